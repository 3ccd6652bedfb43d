// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/photon/propagate.h>
#include <raylift/photon/simulation.h>

#include <algorithm>
#include <deque>
#include <future>
#include <system_error>
#include <utility>

#include "batch_results.h"
#include "needs.h"

namespace raylift::photon {
namespace {

constexpr std::size_t kMinBatch = 1024;
// Bytes that batches leave free where half of the free memory is less. The local memory of kernels' threads takes about
// 1 GB on an H200.
constexpr std::uint64_t kLeftByBatches = 1'900'000'000;
constexpr std::size_t kMaxBatch = std::size_t{1} << 30;  // places in a batch are 32 bits
constexpr std::size_t kPiece = std::size_t{1} << 23;      // bytes that go to the host at once
constexpr PinnedFlags kRead{true, false, false};          // by the host

}  // namespace

/// A batch on its way: its memory, and the stream that it goes along.
struct Simulation::Slot {
  Slot(const GpuGeometry& geometry, std::size_t batch, const Tally::Layout& layout, const Results& results)
      : stream(geometry.device()),
        outcomes(geometry.device(), batch),
        counts(geometry.device(), layout.size()),
        scratch(geometry.device(), scratch_bytes(geometry.device(), batch)),
        hit_places(geometry.device(), results.hits ? batch : 1),
        hits(geometry.device(), results.hits ? batch : 1),
        finals(geometry.device(), results.finals ? batch : 1),
        sequences(geometry.device(), results.sequences ? batch : 1),
        hit_count(geometry.device(), 1),
        hit_count_read(geometry.device(), 1, kRead) {}
  Stream stream;
  DeviceBuffer<Outcome> outcomes;
  DeviceBuffer<std::uint64_t> counts;
  DeviceBuffer<std::byte> scratch;
  DeviceBuffer<std::uint32_t> hit_places;
  DeviceBuffer<PhotonRow> hits, finals;
  DeviceBuffer<Sequence> sequences;
  DeviceBuffer<std::uint32_t> hit_count;
  MappedBuffer<std::uint32_t> hit_count_read;
  std::uint64_t first = 0;  // of the batch that is on its way, from the run's first photon on
  std::size_t count = 0;    // 0: none is
};

struct Simulation::State {
  const GpuGeometry& geometry;
  SimulationOptions options;
  Tally nothing;
  DeviceBuffer<std::uint32_t> channel_of_solid;
  MappedBuffer<std::byte> pieces;  // two of them
  DeviceBuffer<Anchor> anchor;
  std::deque<Slot> slots;
  std::size_t batch = 0;
  std::size_t asked = 0;  // the batch if memory sufficed
  bool hits = false, finals = false, sequences = false;  // what the slots have room for

  void number_channels();
  void reserve(std::uint64_t count, const Results& results, bool halve);
  void start(Slot& slot, const Source& source, const Anchor* from, Run how, const Results& results);
  template <class T>
  void hand_over(const DeviceBuffer<T>& rows, std::size_t count, const Stream& stream,
                 const std::function<void(std::span<const T>)>& take);
  void finish(Slot& slot, const Results& results);
};

/// Channels may have any numbers; counts have an index for each.
void Simulation::State::number_channels() {
  if (!geometry.has(ViewArray::channels)) return;
  const Memory& array = geometry.array(ViewArray::channels);
  std::vector<OpticsView::Channel> of_solid(array.bytes() / sizeof(OpticsView::Channel));
  const Stream stream(geometry.device());
  array.copy_to(std::as_writable_bytes(std::span(of_solid)), stream);
  stream.synchronize();
  std::vector<std::int32_t>& numbers = nothing.channels;
  for (const OpticsView::Channel& channel : of_solid)
    if (channel.number != kNoChannel) numbers.push_back(channel.number);
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  if (numbers.empty()) return;
  std::vector<std::uint32_t> indices;
  indices.reserve(of_solid.size());
  for (const OpticsView::Channel& channel : of_solid) {
    const auto place = std::lower_bound(numbers.begin(), numbers.end(), channel.number);
    indices.push_back(static_cast<std::uint32_t>(place - numbers.begin()));
  }
  channel_of_solid = DeviceBuffer<std::uint32_t>(geometry.device(), indices.size());
  channel_of_solid.copy_from(std::span<const std::uint32_t>(indices), stream);
  stream.synchronize();
}

Simulation::Simulation(const GpuGeometry& geometry, const SimulationOptions& options)
    : state_(std::make_unique<State>(State{geometry, options, {}, {}, {}, {}, {}})) {
  State& state = *state_;
  if (options.time_bins != 0 && !(options.time_to > options.time_from))
    throw Error(ErrorKind::usage, "the histograms of times end before they begin");
  state.number_channels();
  const GeometryView& view = geometry.view();
  state.nothing.layout = {
      view.material_count, view.optics.surface_count, static_cast<std::uint32_t>(state.nothing.channels.size()),
      options.time_bins,   options.time_from,         options.time_to};
  state.nothing.counts.resize(state.nothing.layout.size());
}

Simulation::~Simulation() = default;

std::size_t usual_batch(const Device& device) {
  // More than are on their way at once: the last of each batch leave much of the device idle.
  return std::size_t{1} << (device.info().is_host ? 17U : 24U);
}

std::size_t Simulation::batch() const {
  return state_->batch;
}
const Tally& Simulation::nothing() const {
  return state_->nothing;
}

/// Room for batches of a run; two of them where it has more than one.
void Simulation::State::reserve(std::uint64_t count, const Results& results, bool halve) {
  std::size_t wanted = options.batch != 0 ? options.batch : usual_batch(geometry.device());
  // Two batches rather than a large one, so that the hits of the first are copied while the second runs.
  if (options.batch == 0 && !geometry.device().info().is_host && count <= wanted && count > wanted / 2)
    wanted = static_cast<std::size_t>(count / 2 + 1);
  wanted = static_cast<std::size_t>(std::min<std::uint64_t>({wanted, count, kMaxBatch}));
  const bool roomy = (hits || !results.hits) && (finals || !results.finals) && (sequences || !results.sequences);
  // Devices that share a run need the batch that all have: one that was halved before does not do.
  if (roomy && (halve ? asked : batch) >= wanted && slots.size() == 2) return;
  if (roomy && batch >= count && !slots.empty()) return;
  slots.clear();
  if (pieces.size() == 0) pieces = MappedBuffer<std::byte>(geometry.device(), 2 * kPiece, kRead);
  if (anchor.size() == 0) anchor = DeviceBuffer<Anchor>(geometry.device(), 1);
  asked = wanted;
  const Device& device = geometry.device();
  const bool is_host = device.info().is_host;
  const std::uint64_t before = device.memory_info().free_bytes;
  // The rest is for photons on their way, and for kernels.
  const std::uint64_t enough = std::max(before / 2, std::min(before / 16 * 15, kLeftByBatches));
  for (std::uint64_t left = 0;; wanted /= 2) {
    const bool may_halve = halve && wanted > kMinBatch;
    try {
      slots.emplace_back(geometry, wanted, nothing.layout, results);
      if (wanted < count) slots.emplace_back(geometry, wanted, nothing.layout, results);
      if (is_host || !may_halve) break;
      const std::uint64_t left_before = std::exchange(left, device.memory_info().free_bytes);
      // Or as much as smaller batches give, once there are two: arrays of other sizes stay.
      if (left >= enough || (left_before != 0 && 2 * wanted < count && left < left_before + before / 32)) break;
    } catch (const Error& error) {
      const bool memory =
          error.kind() == ErrorKind::out_of_device_memory || error.kind() == ErrorKind::out_of_host_memory;
      if (!memory || !may_halve) {
        slots.clear();
        throw;
      }
    }
    slots.clear();
  }
  if (!is_host && device.memory_info().free_outside_pool() < kLeftByBatches) device.trim();
  batch = wanted;
  hits = static_cast<bool>(results.hits);
  finals = static_cast<bool>(results.finals);
  sequences = static_cast<bool>(results.sequences);
}

void Simulation::State::start(Slot& slot, const Source& source, const Anchor* from, Run how, const Results& results) {
  how.first += slot.first;
  how.end_values = slot.counts.device() + nothing.layout.end_value(0, 0);
  const Outcome* const outcomes = slot.outcomes.device();
  std::function<void(std::size_t)> turn;
  if (results.during) turn = [&](std::size_t followed) { results.during(slot.first + followed); };
  // Histories longer than an outcome's are made by following the photon again, from the same birth.
  propagate_pieces(geometry, source, from, how, slot.outcomes.device(), slot.count, slot.stream,
                   [&](const ReadySource& ready, const Run& piece, std::size_t first, std::size_t count) {
                     if (!results.sequences) return;
                     std::function<void(std::size_t)> again;
                     if (turn) again = [&](std::size_t) { turn(first + count); };
                     Run uncounted = piece;
                     uncounted.end_values = nullptr;
                     make_sequences(geometry, ready, uncounted, outcomes + first, slot.sequences.device() + first, count,
                                    slot.stream, again);
                   },
                   turn);
  BatchArrays arrays;
  arrays.outcomes = outcomes;
  arrays.count = slot.count;
  arrays.first = how.first;
  arrays.layout = nothing.layout;
  arrays.channel_of_solid = channel_of_solid.device();
  arrays.counts = slot.counts.device();
  arrays.scratch = slot.scratch.device();
  if (results.hits) {
    arrays.hits = slot.hits.device();
    arrays.hit_places = slot.hit_places.device();
    arrays.hit_count = slot.hit_count.device();
  }
  if (results.finals) arrays.finals = slot.finals.device();
  make_results(geometry, arrays, slot.stream);
  if (results.hits) slot.hit_count.copy_to(slot.hit_count_read.host(), slot.stream);
}

/// One piece is on its way while the one before is taken.
template <class T>
void Simulation::State::hand_over(const DeviceBuffer<T>& rows, std::size_t count, const Stream& stream,
                                  const std::function<void(std::span<const T>)>& take) {
  constexpr std::size_t kRows = kPiece / sizeof(T);
  const auto piece = [&](std::size_t first) {
    std::byte* const begin = pieces.host().data() + first / kRows % 2 * kPiece;
    return std::span(reinterpret_cast<T*>(begin), std::min(kRows, count - first));
  };
  if (count != 0) rows.copy_to(piece(0), stream);
  for (std::size_t first = 0; first < count; first += kRows) {
    stream.synchronize();
    if (first + kRows < count) rows.copy_to(piece(first + kRows), stream, first + kRows);
    take(piece(first));
  }
}

void Simulation::State::finish(Slot& slot, const Results& results) {
  slot.stream.synchronize();
  if (results.begin) results.begin(slot.first);
  if (results.hits) hand_over(slot.hits, slot.hit_count_read.host().front(), slot.stream, results.hits);
  if (results.finals) hand_over(slot.finals, slot.count, slot.stream, results.finals);
  if (results.sequences) hand_over(slot.sequences, slot.count, slot.stream, results.sequences);
  const std::uint64_t done = slot.first + slot.count;
  slot.count = 0;
  if (results.done) results.done(done);
}

Tally Simulation::run(const Source& source, const Run& how, std::uint64_t count, const Results& results, Share share) {
  State& state = *state_;
  Tally tally = state.nothing;
  if (count == 0) return tally;
  if (share.of > 1 && state.options.batch == 0)
    throw Error(ErrorKind::usage, "a share of a run needs a batch that all devices have", {},
                "set SimulationOptions::batch");
  require_optics(state.geometry.view());
  check(source);
  state.reserve(count, results, share.of == 1);
  const std::vector<std::uint64_t> none(tally.counts.size());
  for (Slot& slot : state.slots) {
    slot.stream.synchronize();  // a run before may have ended in an error
    slot.counts.copy_from(std::span<const std::uint64_t>(none), slot.stream);
    slot.count = 0;
  }
  const Stream& stream = state.slots.front().stream;
  const Anchor* const anchor = find_anchor(state.geometry, source, state.anchor.device(), stream);
  stream.synchronize();  // the other slot's photons need it too
  // The host waits while photons are on their way on a GPU: so a thread of its own starts each batch, while the one
  // before is handed over.
  const auto start_beside = [&](Slot& slot) -> std::future<void> {
    const auto begin = [&state, &slot, &source, anchor, &how, &results] {
      state.start(slot, source, anchor, how, results);
    };
    if (!state.geometry.device().info().is_host) try {
        return std::async(std::launch::async, begin);
      } catch (const std::system_error&) {  // no thread is to be had
      }
    begin();
    return {};
  };
  std::size_t next = 0;
  Slot* before = nullptr;
  std::uint64_t own = 0;
  for (std::uint64_t first = share.index * state.batch; first < count; first += share.of * state.batch) {
    Slot& slot = state.slots[next++ % state.slots.size()];
    if (&slot == before) state.finish(slot, results);
    slot.first = first;
    slot.count = static_cast<std::size_t>(std::min<std::uint64_t>(state.batch, count - first));
    own += slot.count;
    std::future<void> started = start_beside(slot);
    if (before != nullptr && before != &slot) state.finish(*before, results);
    if (started.valid()) started.get();
    before = &slot;
  }
  if (before != nullptr) state.finish(*before, results);
  for (const Slot& slot : state.slots) {
    Tally part = state.nothing;
    slot.counts.copy_to(std::span(part.counts), slot.stream);
    slot.stream.synchronize();
    tally.add(part);
  }
  if (tally.photons() != own || tally.of(StepKind::none) != 0)
    throw Error(ErrorKind::device,
                std::to_string(tally.photons()) + " photons have an end, and " + std::to_string(own) + " were born", {},
                "this is an error in raylift: please report it");
  return tally;
}

}  // namespace raylift::photon
