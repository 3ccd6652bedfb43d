// SPDX-License-Identifier: Apache-2.0
// Uploading arrays: allocation by the plan, and the pipeline that fills them.
#include <raylift/geometry/error.h>
#include <raylift/gpu/pool.h>
#include <raylift/gpu/upload.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>

namespace raylift {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kTaskBytes = std::size_t{256}
                                   << 10;  // what one task converts: far less than a chunk, far more than a task costs
constexpr std::size_t kSliceBytes = std::size_t{64} << 20;  // of host memory, filled between two reports of progress
constexpr std::size_t kAlignment = 256;                     // of segments in a chunk

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::size_t bytes_of(const ArraySource& source) {
  if (source.element_bytes == 0 || source.count > static_cast<std::size_t>(-1) / source.element_bytes)
    throw Error(ErrorKind::usage, "array '" + source.name + "' is larger than any memory");
  return source.count * source.element_bytes;
}

/// Writes bytes [begin, end) of an array, which need not start or end with an element: a split between device and host
/// memory falls on a page, not on an element.
void fill_bytes(const ArraySource& source, std::size_t begin, std::size_t end, std::byte* target, Target kind) {
  const std::size_t size = source.element_bytes;
  const auto partial = [&](std::size_t element, std::size_t from, std::size_t to, std::byte* out) {
    const auto whole = std::make_unique<std::byte[]>(size);
    source.fill(element, 1, whole.get(), Target::cached);
    copy_bytes(whole.get() + from, out, to - from, kind);
  };
  std::size_t first = begin / size;
  if (const std::size_t inside = begin % size; inside != 0) {
    const std::size_t stop = std::min(size, end - first * size);
    partial(first, inside, stop, target);
    target += stop - inside;
    ++first;
  }
  const std::size_t last = end / size;
  if (last > first) {
    source.fill(first, last - first, target, kind);
    target += (last - first) * size;
  }
  if (last >= first && end % size != 0) partial(last, 0, end % size, target);
}

/// Bytes [begin, end) of an array.
struct Segment {
  const ArraySource* source;
  std::size_t begin;
  std::size_t end;
  std::byte* target;
};

/// Fills segments in parallel, in pieces of whole elements.
void fill_parallel(std::span<const Segment> segments, Target kind) {
  std::vector<Segment> tasks;
  for (const Segment& segment : segments) {
    const std::size_t size = segment.source->element_bytes;
    const std::size_t piece = std::max<std::size_t>(kTaskBytes / size, 1) * size;
    for (std::size_t begin = segment.begin; begin < segment.end;) {
      const std::size_t end = std::min(segment.end, (begin / size) * size + piece);
      tasks.push_back({segment.source, begin, end, segment.target + (begin - segment.begin)});
      begin = end;
    }
  }
  tbb::parallel_for(std::size_t{0}, tasks.size(), [&](std::size_t i) {
    fill_bytes(*tasks[i].source, tasks[i].begin, tasks[i].end, tasks[i].target, kind);
  });
}

ResidentArray allocate(const Device& device, std::size_t bytes, const ArrayPlacement& placement, PinnedFlags flags) {
  switch (placement.where) {
    case Residency::device:
      return ResidentArray(DeviceBuffer<std::byte>(device, bytes));
    case Residency::split:
      return ResidentArray(SplitBuffer<std::byte>(device, bytes, placement.device_bytes));
    case Residency::mapped:
      break;
  }
  return ResidentArray(MappedBuffer<std::byte>(device, bytes, flags));
}

/// Pages that fit into device memory now.
std::uint64_t pages_that_fit(const Device& device, const UploadOptions& options) {
  if (!device.info().splits_arrays || options.policy != PlacementPolicy::automatic) return 0;
  const std::uint64_t free = device.memory_info().free_bytes;
  return (free > options.reserve ? std::min(free - options.reserve, options.budget) : 0) / device.info().page_bytes;
}

/// Allocates by the plan. Free memory was a hint: what is not there after all goes one step down.
ResidentArray allocate_or_step_down(const Device& device, std::size_t bytes, const UploadOptions& options,
                                    ArrayResidency& row) {
  ArrayPlacement placement{row.where, row.device_bytes, row.host_bytes, row.why};
  for (;;) {
    try {
      ResidentArray array = allocate(device, bytes, placement, options.mapped_flags);
      row.where = placement.where;
      row.device_bytes = placement.device_bytes;
      row.host_bytes = placement.host_bytes;
      row.why = placement.why;
      return array;
    } catch (const Error& error) {
      const bool lower = error.kind() == ErrorKind::out_of_device_memory && placement.where != Residency::mapped &&
                         options.policy != PlacementPolicy::device;
      if (!lower) throw;
      row.stepped_down = true;
      placement = step_down(placement, bytes, pages_that_fit(device, options), device.info().page_bytes);
    }
  }
}

/// The device parts of all arrays, cut into chunks for the ring. Small arrays share a chunk.
std::vector<std::vector<Segment>> cut_into_chunks(std::span<const ArraySource> sources, const ResidentArrays& resident,
                                                  std::size_t chunk_bytes) {
  std::vector<std::vector<Segment>> chunks;
  std::size_t left = 0;
  for (std::size_t i = 0; i != sources.size(); ++i) {
    const std::size_t bytes = resident.report.arrays[i].device_bytes;
    for (std::size_t begin = 0; begin < bytes;) {
      if (left == 0) {
        chunks.emplace_back();
        left = chunk_bytes;
      }
      const std::size_t end = std::min(bytes, begin + left);
      chunks.back().push_back({&sources[i], begin, end, resident.arrays[i].device() + begin});
      const std::size_t used = (end - begin + kAlignment - 1) / kAlignment * kAlignment;
      left -= std::min(left, used);
      begin = end;
    }
  }
  return chunks;
}

/// Waits for a stream at the end of a scope, also when an exception ends it: nothing that copies read or write may go
/// before.
class DrainStream {
 public:
  explicit DrainStream(const Stream& stream) : stream_(stream) {}
  ~DrainStream() {
    try {
      stream_.synchronize();
    } catch (const Error&) {
      // The device is in trouble; whoever uses it next hears of it.
    }
  }
  DrainStream(const DrainStream&) = delete;
  DrainStream& operator=(const DrainStream&) = delete;

 private:
  const Stream& stream_;
};

/// The chunks of an upload on their way: several threads, each with blocks of its own, convert a chunk into a block and
/// put its copy onto the stream. No thread waits for another one, and a block goes onto the link out of the cache of
/// the core that has just written it: in ordinary (not write-combined) memory the bytes never reach the host's DRAM,
/// whose bandwidth, and not the link's, would otherwise be the limit.
class Sender {
 public:
  Sender(const std::vector<std::vector<Segment>>& chunks, const Device& device, const UploadOptions& options,
         const Stream& stream, const Stage& stage, std::uint64_t& done)
      : chunks_(chunks),
        device_(device),
        stream_(stream),
        stage_(stage),
        done_(done),
        caller_(std::this_thread::get_id()) {
    for (const auto& chunk : chunks) block_bytes_ = std::max(block_bytes_, staged_bytes(chunk));
    const auto threads = static_cast<std::size_t>(tbb::this_task_arena::max_concurrency());
    const std::size_t blocks = std::min(options.chunks == 0 ? 2 * threads : options.chunks, chunks.size());
    lanes_ = std::min(threads, std::max<std::size_t>(blocks / 2, 1));
    blocks_per_lane_ = (blocks + lanes_ - 1) / lanes_;
  }

  void run() {
    const DrainStream drain(stream_);
    // Blocks go back to the pool when their lane ends, and its next lender waits for their copies.
    tbb::parallel_for(
        std::size_t{0}, lanes_, [this](std::size_t) { run_lane(); }, tbb::simple_partitioner());
    stream_.synchronize();
    done_ = sent_;
    stage_.advance(done_);
  }

 private:
  static std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }
  static std::size_t staged_bytes(const std::vector<Segment>& chunk) {
    return std::accumulate(chunk.begin(), chunk.end(), std::size_t{0}, [](std::size_t sum, const Segment& segment) {
      return sum + aligned(segment.end - segment.begin);
    });
  }

  void run_lane() {
    std::vector<PinnedBlock> blocks(blocks_per_lane_);
    const DrainStream drain(stream_);
    for (std::size_t turn = 0;; ++turn) {
      const std::size_t number = next_++;
      if (number >= chunks_.size() || failed_) return;
      PinnedBlock& block = blocks[turn % blocks.size()];
      try {
        if (turn < blocks.size()) block = device_.pinned_pool().allocate(block_bytes_);
        block.wait();
        send(chunks_[number], block);
      } catch (...) {
        failed_ = true;
        throw;
      }
    }
  }

  void send(const std::vector<Segment>& chunk, PinnedBlock& block) {
    const Target kind = device_.pinned_pool().flags().write_combined ? Target::write_combined : Target::cached;
    std::byte* next = block.host().data();
    for (const Segment& segment : chunk) {
      fill_bytes(*segment.source, segment.begin, segment.end, next, kind);
      next += aligned(segment.end - segment.begin);
    }
    next = block.host().data();
    std::uint64_t sent = 0;
    {
      const std::lock_guard lock(mutex_);
      for (const Segment& segment : chunk) {
        const std::size_t bytes = segment.end - segment.begin;
        device_.backend()->copy_to_device(segment.target, next, bytes, stream_.handle());
        next += aligned(bytes);
        sent_ += bytes;
      }
      block.used_by(stream_);
      sent = sent_;
    }
    // Progress belongs to the caller's thread, which runs a lane too.
    if (std::this_thread::get_id() == caller_) stage_.advance(sent);
  }

  const std::vector<std::vector<Segment>>& chunks_;
  const Device& device_;
  const Stream& stream_;
  const Stage& stage_;
  std::uint64_t& done_;
  std::thread::id caller_;
  std::size_t block_bytes_ = 0;
  std::size_t lanes_ = 1;
  std::size_t blocks_per_lane_ = 1;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;  // of the stream and sent_
  std::uint64_t sent_ = 0;
};

/// Converts what stays in host memory straight into its place, in slices, so that a cancel is heard.
void fill_host_parts(std::span<const ArraySource> sources, const ResidentArrays& resident, const UploadOptions& options,
                     const Stage& stage, std::uint64_t& done) {
  const Target mapped_target = options.mapped_flags.write_combined ? Target::write_combined : Target::cached;
  for (std::size_t i = 0; i != sources.size(); ++i) {
    const ArrayResidency& row = resident.report.arrays[i];
    if (row.host_bytes == 0) continue;
    // The pages of a split are ordinary host memory; CUDA has no write-combined ones there.
    const Target kind = row.where == Residency::split ? Target::cached : mapped_target;
    std::byte* const target = resident.arrays[i].host_part().data();
    const std::size_t slice = std::max(kSliceBytes, sources[i].element_bytes);
    for (std::size_t begin = row.device_bytes; begin < row.bytes;) {
      const std::size_t end = std::min<std::size_t>(row.bytes, begin + slice);
      const Segment segment{&sources[i], begin, end, target + (begin - row.device_bytes)};
      fill_parallel({&segment, 1}, kind);
      done += end - begin;
      stage.advance(done);
      begin = end;
    }
  }
}

}  // namespace

ArraySource float3_source(std::string name, ArrayRank rank, const Rows& rows) {
  return {std::move(name), rank, sizeof(float3), rows.count,
          [rows](std::size_t first, std::size_t count, std::byte* target, Target kind) {
            convert_rows(rows, first, std::span(reinterpret_cast<float3*>(target), count), kind);
          }};
}

ArraySource uint3_source(std::string name, ArrayRank rank, const Rows& rows) {
  return {std::move(name), rank, sizeof(uint3), rows.count,
          [rows](std::size_t first, std::size_t count, std::byte* target, Target kind) {
            convert_rows(rows, first, std::span(reinterpret_cast<uint3*>(target), count), kind);
          }};
}

std::byte* ResidentArray::device() const {
  return std::visit([](const auto& buffer) { return buffer.device(); }, memory_);
}

std::size_t ResidentArray::bytes() const {
  return std::visit([](const auto& buffer) { return buffer.size(); }, memory_);
}

std::span<std::byte> ResidentArray::host_part() const {
  if (const auto* mapped = std::get_if<MappedBuffer<std::byte>>(&memory_)) return mapped->host();
  if (const auto* split = std::get_if<SplitBuffer<std::byte>>(&memory_)) return split->host_part();
  return {};
}

void ResidentArray::copy_to(std::span<std::byte> target, const Stream& stream, std::size_t first) const {
  if (const auto* buffer = std::get_if<DeviceBuffer<std::byte>>(&memory_))
    return buffer->copy_to(target, stream, first);
  if (const auto* split = std::get_if<SplitBuffer<std::byte>>(&memory_)) return split->copy_to(target, stream, first);
  const auto& mapped = std::get<MappedBuffer<std::byte>>(memory_);
  detail::check_range(first, target.size(), mapped.size());
  if (!target.empty())
    mapped.backend()->copy_to_host(target.data(), mapped.device() + first, target.size(), stream.handle());
}

ResidentArrays upload(std::span<const ArraySource> sources, const Device& device, const UploadOptions& options,
                      const Progress& progress) {
  ResidentArrays resident;
  ResidencyReport& report = resident.report;
  const MemoryInfo memory = device.memory_info();
  report.device_id = device.info().id;
  report.device_name = device.info().name;
  report.policy = options.policy;
  report.reserve = options.reserve;
  report.budget = options.budget;
  report.free_before = memory.free_bytes;
  report.total = memory.total_bytes;
  {
    const Stage stage(progress, "placement");
    const auto start = Clock::now();
    std::vector<ArraySize> sizes;
    for (const ArraySource& source : sources) sizes.push_back({source.name, bytes_of(source), source.rank});
    const std::vector<ArrayPlacement> plan =
        plan_placement({sizes, memory.free_bytes, options.reserve, options.budget, options.policy,
                        device.info().splits_arrays, device.info().page_bytes});
    for (std::size_t i = 0; i != sizes.size(); ++i)
      report.arrays.push_back({sizes[i].name, sizes[i].rank, sizes[i].bytes, plan[i].where, plan[i].device_bytes,
                               plan[i].host_bytes, plan[i].why});
    report.placement_seconds = seconds_since(start);
  }
  {
    const Stage stage(progress, "allocate");
    const auto start = Clock::now();
    // In the order of rank: where the plan's memory is not there after all, the array that matters most is served
    // first.
    std::vector<std::size_t> order(sources.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return sources[a].rank < sources[b].rank; });
    resident.arrays.resize(sources.size());
    for (const std::size_t i : order)
      if (report.arrays[i].bytes != 0)
        resident.arrays[i] = allocate_or_step_down(device, report.arrays[i].bytes, options, report.arrays[i]);
    report.allocation_seconds = seconds_since(start);
  }
  const Stage stage(progress, "upload", report.bytes());
  const auto start = Clock::now();
  const Stream stream(device);
  std::uint64_t done = 0;
  const std::size_t chunk_bytes = std::max<std::size_t>(options.chunk_bytes / kAlignment, 1) * kAlignment;
  const std::vector<std::vector<Segment>> chunks = cut_into_chunks(sources, resident, chunk_bytes);
  if (!chunks.empty()) Sender(chunks, device, options, stream, stage, done).run();
  fill_host_parts(sources, resident, options, stage, done);
  report.upload_seconds = seconds_since(start);
  report.free_after = device.memory_info().free_bytes;
  return resident;
}

}  // namespace raylift
