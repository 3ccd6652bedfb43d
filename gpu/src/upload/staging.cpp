// SPDX-License-Identifier: Apache-2.0
// Staging memory is a ring of a few large chunks, because each copy costs the link some microseconds; the first chunks
// are small, so that the link has work as soon as the first piece is there. A chunk is filled
// in many small pieces, by all threads; whoever fills the last piece of a chunk sends it. No thread waits for another
// one but where the ring is full, that is, where the link is what limits. Staging memory is ordinary cached memory: a
// chunk goes onto the link out of the processor's cache, and the host's memory only has to deliver the source. (On the
// H200's host, write-combined staging reached 0.8 of the link: its bytes go out to memory and come back.)
#include "staging.h"

#include <raylift/geometry/error.h>
#include <raylift/gpu/device/pool.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <deque>
#include <memory>
#include <thread>

#include "geometry/src/stage.h"
#include "transfer.h"

namespace raylift::detail {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{512} << 10;  // a tenth of a millisecond of work
constexpr std::size_t kAlignment = 256;                      // of arrays in a chunk
constexpr std::size_t kLargeBytes = std::size_t{4} << 20;    // of an array that is worth more than that:
constexpr std::size_t kLargeAlignment = std::size_t{128} << 10;

std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// Parts of arrays laid end to end, each from an aligned offset on, so that the whole can be cut anywhere: large arrays
/// go into many chunks, and small ones share one.
class StagedRun {
 public:
  struct Part {
    const ArraySource* source;
    std::size_t first;  // byte of the array
    std::size_t bytes;
    std::byte* target;
    StoreMode mode;
    std::size_t offset;  // in the run
    std::size_t array;   // its number
  };

  void append(std::size_t array, const ArraySource& source, std::size_t first, std::size_t bytes, std::byte* target,
              StoreMode mode) {
    if (bytes == 0) return;
    // A source may check what it gives out in blocks; pieces of a large array are then whole blocks of it.
    if (bytes >= kLargeBytes) size_ = round_up(size_, kLargeAlignment);
    parts_.push_back({&source, first, bytes, target, mode, size_, array});
    size_ += round_up(bytes, kAlignment);
  }
  [[nodiscard]] std::size_t size() const { return size_; }

  /// Calls use(part, from, to) for the bytes [from, to) of each part that lie in [begin, end) of the run.
  template <class Use>
  void between(std::size_t begin, std::size_t end, const Use& use) const {
    auto part = std::upper_bound(parts_.begin(), parts_.end(), begin,
                                 [](std::size_t at, const Part& p) { return at < p.offset; });
    for (--part; part != parts_.end() && part->offset < end; ++part) {
      const std::size_t from = std::max(begin, part->offset) - part->offset;
      const std::size_t to = std::min(end - part->offset, part->bytes);
      if (from < to) use(*part, from, to);
    }
  }

 private:
  std::vector<Part> parts_;
  std::size_t size_ = 0;
};

/// Waits for all copies, before what they read and write goes by an exception.
void drain(TransferStrategy& transfer) noexcept {
  try {
    transfer.finish();
  } catch (const Error&) {
    // The device is in trouble; whoever uses it next hears of it.
  }
}

class Pipeline {
 public:
  /// Staging memory comes out of `pool`.
  Pipeline(const StagedRun& staged, const StagedRun& in_place, PinnedPool& pool, TransferStrategy& transfer,
           const UploadOptions& options, const Stage& stage);
  void run();

 private:
  /// A slot of the ring. Chunk number c takes slot c % slots, in round c / slots.
  struct RingSlot {
    std::atomic<std::size_t> filled{0};  // pieces of this round
    std::atomic<std::size_t> sent{0};    // rounds whose copy has been issued
    std::atomic<std::size_t> free{0};    // rounds whose copy is known to be done
  };

  void work();
  void fill_staged(std::size_t piece);
  void fill_in_place(std::size_t piece);
  bool wait_for(std::size_t number, std::size_t round);
  void send(std::size_t chunk);
  // Chunk number c has 2^c pieces, until that is the size of a chunk: pieces_per_chunk_, also a power of two.
  [[nodiscard]] std::size_t chunk_of(std::size_t piece) const {
    if (piece < pieces_per_chunk_) return static_cast<std::size_t>(std::bit_width(piece + 1)) - 1;
    return static_cast<std::size_t>(std::bit_width(pieces_per_chunk_)) - 1 +
           (piece + 1 - pieces_per_chunk_) / pieces_per_chunk_;
  }
  [[nodiscard]] std::size_t first_piece(std::size_t chunk) const {
    const auto full = static_cast<std::size_t>(std::bit_width(pieces_per_chunk_)) - 1;  // the first full chunk
    return (std::size_t{1} << std::min(chunk, full)) - 1 + (chunk - std::min(chunk, full)) * pieces_per_chunk_;
  }
  [[nodiscard]] std::size_t begin_of(std::size_t chunk) const {
    return std::min(first_piece(chunk) * piece_bytes_, staged_.size());
  }
  /// Where a chunk's bytes lie in staging memory.
  [[nodiscard]] std::byte* staging_of(std::size_t chunk) const {
    return ring_.host().data() + chunk % slots_.size() * pieces_per_chunk_ * piece_bytes_;
  }

  const StagedRun& staged_;
  const StagedRun& in_place_;
  TransferStrategy& transfer_;
  const Stage& stage_;
  const std::thread::id caller_ = std::this_thread::get_id();
  StoreMode mode_;  // of staging memory
  std::size_t piece_bytes_ = kPieceBytes;
  std::size_t pieces_per_chunk_ = 1;
  std::size_t staged_pieces_ = 0;
  std::size_t pieces_ = 0;
  PinnedPool::Block ring_;
  std::deque<RingSlot> slots_;
  std::atomic<std::size_t> next_{0};  // piece
  std::atomic<std::uint64_t> done_{0};
  std::atomic<bool> stopped_{false};
};

Pipeline::Pipeline(const StagedRun& staged, const StagedRun& in_place, PinnedPool& pool, TransferStrategy& transfer,
                   const UploadOptions& options, const Stage& stage)
    : staged_(staged),
      in_place_(in_place),
      transfer_(transfer),
      stage_(stage),
      mode_(pool.flags().write_combined ? StoreMode::write_combined : StoreMode::cached) {
  if (staged.size() != 0) {
    const std::size_t wanted = std::min(options.chunk_bytes, std::max(staged.size(), kAlignment));
    piece_bytes_ = std::min(kPieceBytes, round_up(wanted, kAlignment));
    const std::size_t pieces = (staged.size() + piece_bytes_ - 1) / piece_bytes_;
    const std::size_t chunks = options.chunks * transfer.links();
    // Little to send needs little to be pinned.
    pieces_per_chunk_ =
        std::bit_ceil(std::min((wanted + piece_bytes_ - 1) / piece_bytes_, std::max<std::size_t>(pieces / chunks, 1)));
    const std::size_t slots = std::min(chunks, chunk_of(pieces - 1) + 1);
    ring_ = pool.allocate(slots * pieces_per_chunk_ * piece_bytes_);
    for (std::size_t i = 0; i != slots; ++i) slots_.emplace_back();
    transfer.prepare(slots, pieces_per_chunk_ * piece_bytes_);
  }
  staged_pieces_ = (staged.size() + piece_bytes_ - 1) / piece_bytes_;
  pieces_ = staged_pieces_ + (in_place.size() + piece_bytes_ - 1) / piece_bytes_;
}

void Pipeline::run() {
  try {
    const auto threads = static_cast<std::size_t>(tbb::this_task_arena::max_concurrency());
    tbb::parallel_for(
        std::size_t{0}, std::min(threads, pieces_), [this](std::size_t) { work(); }, tbb::simple_partitioner());
    transfer_.close(ring_);
    stage_.advance(done_);
  } catch (...) {
    drain(transfer_);
    throw;
  }
}

void Pipeline::work() {
  try {
    while (!stopped_) {
      const std::size_t piece = next_++;
      if (piece >= pieces_) return;
      if (piece < staged_pieces_)
        fill_staged(piece);
      else
        fill_in_place(piece - staged_pieces_);
      // Progress belongs to the caller's thread, which works here too.
      if (std::this_thread::get_id() == caller_) stage_.advance(done_);
    }
  } catch (...) {
    stopped_ = true;
    throw;
  }
}

void Pipeline::fill_staged(std::size_t piece) {
  const std::size_t chunk = chunk_of(piece);
  const std::size_t chunk_begin = begin_of(chunk);
  const std::size_t begin = piece * piece_bytes_;
  RingSlot& slot = slots_[chunk % slots_.size()];
  if (!wait_for(chunk % slots_.size(), chunk / slots_.size())) return;
  std::byte* const staging = staging_of(chunk);
  // Isolated: a fill that waits for tasks of its own must not be handed another piece meanwhile, which might wait for
  // this one.
  tbb::this_task_arena::isolate([&] {
    staged_.between(begin, begin + piece_bytes_, [&](const StagedRun::Part& part, std::size_t from, std::size_t to) {
      if (part.source->pinned != nullptr) return;
      part.source->fill_bytes(part.first + from, part.first + to, staging + (part.offset + from - chunk_begin), mode_);
    });
  });
  if (++slot.filled == std::min(first_piece(chunk + 1), staged_pieces_) - first_piece(chunk)) send(chunk);
}

void Pipeline::fill_in_place(std::size_t piece) {
  const std::size_t begin = piece * piece_bytes_;
  in_place_.between(begin, begin + piece_bytes_, [&](const StagedRun::Part& part, std::size_t from, std::size_t to) {
    part.source->fill_bytes(part.first + from, part.first + to, part.target + from, part.mode);
    done_ += to - from;
  });
}

/// Waits until a place is free for a round; false if the upload was stopped.
bool Pipeline::wait_for(std::size_t number, std::size_t round) {
  RingSlot& slot = slots_[number];
  // Pieces are handed out in order, so those of the round before are with threads that are at work.
  while (slot.sent < round) {
    if (stopped_) return false;
    std::this_thread::yield();
  }
  if (slot.free < round) {
    transfer_.wait(number);
    slot.free = round;
  }
  return true;
}

void Pipeline::send(std::size_t chunk) {
  RingSlot& slot = slots_[chunk % slots_.size()];
  slot.filled = 0;
  std::uint64_t sent = 0;
  const std::size_t begin = begin_of(chunk);
  std::vector<ChunkPiece> pieces;
  staged_.between(begin, begin_of(chunk + 1), [&](const StagedRun::Part& part, std::size_t from, std::size_t to) {
    const std::size_t offset = part.offset + from - begin;
    const std::byte* const pinned = part.source->pinned;
    pieces.push_back({part.array, part.first + from, to - from,
                      pinned != nullptr ? pinned + part.first + from : staging_of(chunk) + offset, offset});
    sent += to - from;
  });
  transfer_.send(chunk % slots_.size(), pieces);
  slot.sent = chunk / slots_.size() + 1;
  done_ += sent;
}

}  // namespace

void fill_arrays(std::span<const Destination> arrays, const Device& device, StreamRef stream,
                 const UploadOptions& options, const Stage& stage) {
  StagedRun staged;
  StagedRun in_place;
  for (std::size_t i = 0; i != arrays.size(); ++i) {
    const Destination& array = arrays[i];
    staged.append(i, *array.source, 0, array.device_bytes, array.device, StoreMode::cached);
    in_place.append(i, *array.source, array.device_bytes, array.host_bytes, array.host, array.host_mode);
  }
  if (staged.size() + in_place.size() == 0) return;
  std::unique_ptr<TransferStrategy> transfer;
  if (options.relay_devices.empty())
    transfer = std::make_unique<DirectTransfer>(arrays, device, stream);
  else
    transfer = std::make_unique<RelayTransfer>(arrays, device, stream, options.relay_devices);
  Pipeline(staged, in_place, device.pinned_pool(), *transfer, options, stage).run();
}

void fill_arrays(std::span<const std::vector<Destination>> arrays, std::span<const Device> devices,
                 const UploadOptions& options, const Stage& stage) {
  StagedRun staged;
  StagedRun in_place;
  for (std::size_t i = 0; i != arrays.front().size(); ++i) {
    // As much as is on the device that has most of it: the others take what is theirs of that.
    std::size_t most = 0;
    for (const std::vector<Destination>& of_device : arrays) {
      const Destination& array = of_device[i];
      most = std::max(most, array.device_bytes);
      in_place.append(i, *array.source, array.device_bytes, array.host_bytes, array.host, array.host_mode);
    }
    staged.append(i, *arrays.front()[i].source, 0, most, nullptr, StoreMode::cached);
  }
  if (staged.size() + in_place.size() == 0) return;
  BroadcastTransfer transfer(arrays, devices);
  Pipeline(staged, in_place, devices.front().pinned_pool(), transfer, options, stage).run();
}

}  // namespace raylift::detail
