// SPDX-License-Identifier: Apache-2.0
#include "event_lane.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "batch_results.h"
#include "device/run_on.h"
#include "event_results.h"
#include "for_each.h"
#include "generate_kernel.h"
#include "place_gensteps.h"
#include "ready_source.h"

namespace raylift::photon {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 22;  // that go to the host at once
constexpr PinnedFlags kReadByHost{true, false, false};

bool is_out_of_memory(const Error& error) {
  return error.kind() == ErrorKind::out_of_device_memory || error.kind() == ErrorKind::out_of_host_memory;
}

/// A pooled array with the contents of one in host memory, which must stay until the stream is past the copy.
template <class T>
PooledBuffer<T> upload_pooled(const Device& device, const Stream& stream, const std::vector<T>& values) {
  PooledBuffer<T> buffer(device, stream, std::max<std::size_t>(values.size(), 1));
  if (!values.empty()) buffer.copy_from(values, stream);
  return buffer;
}

std::uint64_t hit_words_of(const Part& part) {
  return part.counts.ends[static_cast<std::size_t>(StepKind::detected)] * part.request->hits.size();
}

}  // namespace

/// The gensteps of a launch.
struct EventLane::Gensteps {
  std::vector<Genstep> steps;
  std::vector<GenstepPlace> places_known;  ///< of the last steps
  std::vector<std::uint64_t> ends;         ///< of each step, the photons of its event up to its last one
  std::vector<GenstepRange> ranges;        ///< of each part
  std::optional<PooledBuffer<Genstep>> on_device;
  std::optional<PooledBuffer<GenstepPlace>> places;
  std::optional<PooledBuffer<std::uint64_t>> ends_on_device;

  /// Appends the rows, and returns their range.
  GenstepRange append(std::span<const Genstep> rows, const GeometryView& view) {
    const GenstepRange range{static_cast<std::uint32_t>(steps.size()), static_cast<std::uint32_t>(rows.size())};
    for (const Genstep& row : rows) {
      steps.push_back(row);
      steps.back().position = view.from_scene(row.position);
    }
    return range;
  }
};

/// The parts that have photons: the events of a launch, one after the other.
struct EventLane::Events {
  std::vector<Part*> parts;
  std::vector<EventKey> keys;
  std::vector<std::uint64_t> begins, ends;  ///< places of photons
  std::vector<HitColumns> columns;
  std::vector<GenstepRange> ranges;
  EventView view;  ///< on the device
  const HitColumns* columns_on_device = nullptr;

  [[nodiscard]] std::size_t photons() const { return static_cast<std::size_t>(ends.back()); }
  [[nodiscard]] const Request& usual() const { return *parts.front()->request; }
  template <class Wants>
  [[nodiscard]] bool any(const Wants& wants) const {
    return std::any_of(parts.begin(), parts.end(), [&](const Part* part) { return wants(*part->request); });
  }
};

/// The source of a launch, and its arrays on the device.
struct EventLane::Births {
  Source source;
  std::optional<PooledBuffer<GenstepRange>> ranges;
  std::optional<PooledBuffer<StartPhoton>> photons;
  std::vector<EventSource> sources;
  std::optional<PooledBuffer<EventSource>> sources_on_device;
};

EventLane::EventLane(const GpuGeometry& geometry, std::size_t photons)
    : geometry_(geometry),
      room_(std::max(photons, kMinRoom)),
      stream_(geometry.device()),
      end_values_(geometry.device(), kMaxParts * kBulkProperties),
      pieces_(geometry.device(), 2 * kPieceBytes, kReadByHost),
      hit_count_(geometry.device(), 1),
      counts_(geometry.device(), kMaxParts),
      hits_(geometry.device(), kMaxParts + 1) {
  const Request usual;
  Part part;
  part.request = &usual;
  for (bool fits = false; !fits;) {
    try {
      reserve({&part, 1});
      fits = true;
    } catch (const Error& error) {
      if (!is_out_of_memory(error) || !halve()) throw;
    }
  }
}

bool EventLane::halve() {
  if (room_ / 2 < kMinRoom) return false;
  room_ /= 2;
  outcomes_ = {};
  scratch_ = {};
  hit_places_ = {};
  hit_words_ = {};
  finals_ = {};
  sequences_ = {};
  records_ = {};
  return true;
}

/// Arrays for the results that the parts want.
void EventLane::reserve(std::span<const Part> parts) {
  const Device& device = geometry_.device();
  const auto wanted = [&](auto wants) {
    return std::any_of(parts.begin(), parts.end(), [&](const Part& part) { return wants(*part.request); });
  };
  if (outcomes_.size() == 0) outcomes_ = DeviceBuffer<Outcome>(device, room_);
  if (scratch_.size() == 0) scratch_ = DeviceBuffer<std::byte>(device, scratch_bytes(device, room_));
  if (wanted([](const Request& request) { return request.hits.size() != 0; })) {
    if (hit_places_.size() == 0) hit_places_ = DeviceBuffer<std::uint32_t>(device, room_);
    if (hit_words_.size() == 0) hit_words_ = DeviceBuffer<std::uint32_t>(device, room_ * HitColumns::kMax);
  }
  if (finals_.size() == 0 && wanted([](const Request& request) { return request.finals; }))
    finals_ = DeviceBuffer<PhotonRow>(device, room_);
  if (sequences_.size() == 0 && wanted([](const Request& request) { return request.sequences; }))
    sequences_ = DeviceBuffer<Sequence>(device, room_);
  if (records_.size() == 0 && wanted([](const Request& request) { return request.records; }))
    records_ = DeviceBuffer<PhotonRow>(device, std::min(room_, kRecordedAtOnce) * kSequenceEvents);
}

void EventLane::run(std::span<Part> parts, const std::function<void()>& placed) {
  try {
    simulate(parts, placed);
  } catch (...) {
    const std::exception_ptr error = std::current_exception();
    try {
      stream_.synchronize();  // copies from the memory of the parts may be on their way
    } catch (const Error&) {  // it is the first one that counts
    }
    std::rethrow_exception(error);
  }
}

/// Uploads the gensteps of the parts' photons. Those of requests that no launch had before are placed, and their
/// photons counted.
void EventLane::place(std::span<Part> parts, Gensteps& gensteps) {
  const Device& device = geometry_.device();
  const auto rows_of = [](const Part& part) { return std::get<SharedRows<Genstep>>(part.request->source).rows(); };
  const auto is_new = [](const Part& part) { return part.placed == nullptr; };
  gensteps.ranges.resize(parts.size());
  std::vector<EventKey> keys;
  std::vector<std::uint64_t> new_ends;
  for (std::size_t p = 0; p != parts.size(); ++p) {
    if (!is_new(parts[p])) continue;
    gensteps.ranges[p] = gensteps.append(rows_of(parts[p]), geometry_.view());
    keys.push_back({parts[p].request->seed, 0 - std::uint64_t{gensteps.ranges[p].first}});
    new_ends.push_back(gensteps.steps.size());
  }
  const std::size_t new_count = gensteps.steps.size();
  gensteps.ends.resize(new_count);
  for (std::size_t p = 0; p != parts.size(); ++p) {
    const Part& part = parts[p];
    if (is_new(part)) continue;
    // From the step before that of the first photon on, as its end is needed.
    const std::vector<std::uint64_t>& ends = part.placed->ends;
    const auto step_of = [&](std::uint64_t photon) {
      return static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), photon) - ends.begin());
    };
    const std::size_t first = step_of(part.first), begin = first == 0 ? 0 : first - 1;
    const std::size_t count = step_of(part.first + part.count - 1) + 1 - begin;
    gensteps.ranges[p] = gensteps.append(rows_of(part).subspan(begin, count), geometry_.view());
    const auto append = [&](auto& to, const auto& from) {
      to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(begin),
                from.begin() + static_cast<std::ptrdiff_t>(begin + count));
    };
    append(gensteps.places_known, part.placed->places);
    append(gensteps.ends, ends);
  }
  const std::size_t count = gensteps.steps.size();
  gensteps.on_device.emplace(upload_pooled(device, stream_, gensteps.steps));
  gensteps.places.emplace(device, stream_, std::max<std::size_t>(count, 1));
  gensteps.ends_on_device.emplace(device, stream_, std::max<std::size_t>(count, 1));
  if (!gensteps.places_known.empty()) gensteps.places->copy_from(gensteps.places_known, stream_, new_count);
  if (new_count != 0) {
    const PooledBuffer<EventKey> keys_there = upload_pooled(device, stream_, keys);
    const PooledBuffer<std::uint64_t> ends_there = upload_pooled(device, stream_, new_ends);
    const EventView events{keys_there.device(), ends_there.device(), static_cast<std::uint32_t>(keys.size())};
    place_gensteps(geometry_, gensteps.on_device->device(), events, 0, gensteps.places->device(),
                   gensteps.ends_on_device->device(), new_count, stream_);
    std::vector<GenstepPlace> places(new_count);
    gensteps.ends_on_device->copy_to(std::span(gensteps.ends).first(new_count), stream_);
    gensteps.places->copy_to(places, stream_);
    stream_.synchronize();
    for (std::size_t p = 0; p != parts.size(); ++p)
      if (is_new(parts[p])) count_photons(parts[p], gensteps, gensteps.ranges[p], places);
  }
  if (count != 0) gensteps.ends_on_device->copy_from(gensteps.ends, stream_);
}

/// The photons of a part's gensteps, of which `ends` has those of each alone before.
void EventLane::count_photons(Part& part, Gensteps& gensteps, GenstepRange range,
                              std::span<const GenstepPlace> places) {
  std::uint64_t total = 0;
  try {
    for (std::uint32_t i = 0; i != range.count; ++i) {
      const std::size_t at = range.first + i;
      check_light(gensteps.steps[at], places[at], gensteps.ends[at], i);
      total += gensteps.ends[at];
      gensteps.ends[at] = total;
    }
  } catch (const Error&) {
    part.error = std::current_exception();
  }
  part.total = total;
  const auto own = [&](auto& all) { return all.begin() + static_cast<std::ptrdiff_t>(range.first); };
  const auto count = static_cast<std::ptrdiff_t>(range.count);
  part.placed = std::make_shared<const PlacedGensteps>(
      PlacedGensteps{{own(places), own(places) + count}, {own(gensteps.ends), own(gensteps.ends) + count}});
}

void EventLane::simulate(std::span<Part> parts, const std::function<void()>& placed) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const Device& device = geometry_.device();
  reserve(parts);
  const bool has_gensteps = std::holds_alternative<SharedRows<Genstep>>(parts.front().request->source);
  Gensteps gensteps;
  if (has_gensteps) place(parts, gensteps);
  placed();

  Events events;
  std::uint64_t photons = 0;
  for (std::size_t p = 0; p != parts.size(); ++p) {
    Part& part = parts[p];
    if (part.error != nullptr || part.count == 0) continue;
    events.parts.push_back(&part);
    events.keys.push_back({part.request->seed, part.first - photons});
    events.begins.push_back(photons);
    photons += part.count;
    events.ends.push_back(photons);
    events.columns.push_back(part.request->hits);
    if (has_gensteps) events.ranges.push_back(gensteps.ranges[p]);
  }
  seconds_ = 0;
  if (events.parts.empty()) return stream_.synchronize();
  const PooledBuffer<EventKey> keys = upload_pooled(device, stream_, events.keys);
  const PooledBuffer<std::uint64_t> ends = upload_pooled(device, stream_, events.ends);
  const PooledBuffer<HitColumns> columns = upload_pooled(device, stream_, events.columns);
  events.view = {keys.device(), ends.device(), static_cast<std::uint32_t>(events.parts.size())};
  events.columns_on_device = columns.device();
  const std::vector<EventCounts> no_counts(events.parts.size());
  const std::vector<std::uint64_t> no_end_values(events.parts.size() * kBulkProperties);
  counts_.copy_from(std::span<const EventCounts>(no_counts), stream_);
  end_values_.copy_from(std::span<const std::uint64_t>(no_end_values), stream_);

  Births births;
  upload_births(events, gensteps, births);
  follow_all(events, births);
  make_results(events);
  read_counts(events);
  seconds_ = std::chrono::duration<double>(Clock::now() - start).count();
  read_rows(events);
}

/// Through pinned memory: a copy from the requests' own, pageable memory would not overlap with anything. One piece is
/// filled, by as many events as have room in it, while the other one is copied.
void EventLane::upload_photons(const Events& events, PooledBuffer<StartPhoton>& to) {
  constexpr std::size_t kRows = kPieceBytes / sizeof(StartPhoton);
  std::array<std::optional<Event>, 2> copied;
  std::size_t piece = 0, filled = 0, done = 0;
  const auto memory = [&] { return reinterpret_cast<StartPhoton*>(pieces_.host().data() + piece * kPieceBytes); };
  const auto flush = [&] {
    if (filled == 0) return;
    to.copy_from(std::span<const StartPhoton>(memory(), filled), stream_, done);
    copied[piece].emplace(geometry_.device());
    copied[piece]->record(stream_);
    done += filled;
    filled = 0;
    piece = 1 - piece;
    if (copied[piece]) copied[piece]->wait();
  };
  for (const Part* part : events.parts) {
    auto rows = std::get<SharedRows<StartPhoton>>(part->request->source)
                    .rows()
                    .subspan(static_cast<std::size_t>(part->first), static_cast<std::size_t>(part->count));
    while (!rows.empty()) {
      const std::size_t here = std::min(rows.size(), kRows - filled);
      std::copy_n(rows.begin(), here, memory() + filled);
      rows = rows.subspan(here);
      filled += here;
      if (filled == kRows) flush();
    }
  }
  flush();
}

void EventLane::upload_births(const Events& events, const Gensteps& gensteps, Births& births) {
  const Device& device = geometry_.device();
  if (gensteps.on_device) {
    births.ranges.emplace(upload_pooled(device, stream_, events.ranges));
    births.source.gensteps = {gensteps.on_device->device(),
                              gensteps.places->device(),
                              gensteps.ends_on_device->device(),
                              static_cast<std::uint32_t>(gensteps.steps.size()),
                              events.photons(),
                              births.ranges->device()};
  } else if (std::holds_alternative<SharedRows<StartPhoton>>(events.usual().source)) {
    births.photons.emplace(device, stream_, events.photons());
    upload_photons(events, *births.photons);
    births.source.photons = births.photons->device();
    births.source.photon_count = events.photons();
  } else {
    for (const Part* part : events.parts) births.sources.push_back({std::get<Source>(part->request->source), {}});
    births.sources_on_device.emplace(upload_pooled(device, stream_, births.sources));
    EventSource* const there = births.sources_on_device->device();
    const std::size_t count = births.sources.size();
    const GeometryView& view = geometry_.view();
    raylift::detail::run_on(
        device, "locate", [&] { return launch_event_anchors(view, there, count, stream_.handle()); },
        [&] { for_each(count, [&](std::size_t i) { there[i].anchor = anchor_of(view, there[i].source); }); });
    births.source.events = there;
  }
}

/// From birth to end, and the histories that are wanted.
void EventLane::follow_all(const Events& events, const Births& births) {
  photon::Run how;
  how.most_steps = events.usual().most_steps;
  how.latest = events.usual().latest;
  how.shift_profile = events.usual().shift_profile;
  how.end_values = end_values_.device();
  how.events = events.view;
  const bool sequences = events.any([](const Request& request) { return request.sequences; });
  const bool records = events.any([](const Request& request) { return request.records; });
  propagate_pieces(geometry_, births.source, nullptr, how, outcomes_.device(), events.photons(), stream_,
                   [&](const ReadySource& ready, const photon::Run& piece, std::size_t first, std::size_t count) {
                     photon::Run uncounted = piece;
                     uncounted.end_values = nullptr;
                     if (sequences)
                       make_sequences(geometry_, ready, uncounted, outcomes_.device() + first,
                                      sequences_.device() + first, count, stream_, {});
                     if (records) record(events, ready, uncounted, first, count);
                   },
                   {});
}

/// The steps of the photons at places `first` on, of those parts that want them: they leave the device at once, as
/// they are too large to stay there.
void EventLane::record(const Events& events, const ReadySource& source, const photon::Run& run, std::size_t first,
                       std::size_t count) {
  for (std::size_t i = 0; i != events.parts.size(); ++i) {
    Part& part = *events.parts[i];
    if (!part.request->records) continue;
    const std::size_t end = std::min(static_cast<std::size_t>(events.ends[i]), first + count);
    for (std::size_t place = std::max(static_cast<std::size_t>(events.begins[i]), first); place < end;) {
      const std::size_t here = std::min(end - place, records_.size() / kSequenceEvents);
      photon::Run some = run;
      some.first += place - first;
      make_records(geometry_, source, some, records_.device(), here, stream_, {});
      read(records_, 0, here * kSequenceEvents,
           [&](auto rows) { part.records.insert(part.records.end(), rows.begin(), rows.end()); });
      place += here;
    }
  }
}

void EventLane::make_results(const Events& events) {
  EventArrays arrays;
  arrays.outcomes = outcomes_.device();
  arrays.count = events.photons();
  arrays.events = events.view;
  arrays.columns = events.columns_on_device;
  arrays.counts = counts_.device();
  arrays.hits = hits_.device();
  arrays.hit_count = hit_count_.device();
  arrays.scratch = scratch_.device();
  if (events.any([](const Request& request) { return request.hits.size() != 0; })) {
    arrays.hit_places = hit_places_.device();
    arrays.hit_words = hit_words_.device();
  }
  if (events.any([](const Request& request) { return request.finals; })) arrays.finals = finals_.device();
  make_event_results(geometry_, arrays, stream_);
}

void EventLane::read_counts(const Events& events) {
  std::vector<EventCounts> counts(events.parts.size());
  std::vector<std::uint64_t> end_values(events.parts.size() * kBulkProperties);
  counts_.copy_to(counts, stream_);
  end_values_.copy_to(end_values, stream_);
  stream_.synchronize();
  for (std::size_t i = 0; i != events.parts.size(); ++i) {
    events.parts[i]->counts = counts[i];
    std::copy_n(end_values.data() + i * kBulkProperties, kBulkProperties, events.parts[i]->end_values.begin());
  }
}

/// One piece is on its way while the one before is taken.
template <class T, class Take>
void EventLane::read(const DeviceBuffer<T>& from, std::size_t first, std::size_t count, const Take& take) {
  constexpr std::size_t kRows = kPieceBytes / sizeof(T);
  const auto piece = [&](std::size_t done) {
    std::byte* const begin = pieces_.host().data() + done / kRows % 2 * kPieceBytes;
    return std::span(reinterpret_cast<T*>(begin), std::min(kRows, count - done));
  };
  if (count != 0) from.copy_to(piece(0), stream_, first);
  for (std::size_t done = 0; done < count; done += kRows) {
    stream_.synchronize();
    if (done + kRows < count) from.copy_to(piece(done + kRows), stream_, first + done + kRows);
    take(std::span<const T>(piece(done)));
  }
}

void EventLane::read_rows(const Events& events) {
  // The events' words follow one another.
  std::uint64_t words = 0;
  for (Part* part : events.parts) {
    const std::uint64_t own = hit_words_of(*part);
    part->hit_words.reserve(static_cast<std::size_t>(own));
    words += own;
  }
  std::size_t event = 0;
  read(hit_words_, 0, static_cast<std::size_t>(words), [&](std::span<const std::uint32_t> some) {
    while (!some.empty()) {
      Part& part = *events.parts[event];
      const std::uint64_t all = hit_words_of(part);
      const std::size_t here = std::min(some.size(), static_cast<std::size_t>(all) - part.hit_words.size());
      part.hit_words.insert(part.hit_words.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(here));
      some = some.subspan(here);
      if (part.hit_words.size() == all) ++event;
    }
  });
  const auto append = [](auto& to) { return [&to](auto rows) { to.insert(to.end(), rows.begin(), rows.end()); }; };
  for (std::size_t i = 0; i != events.parts.size(); ++i) {
    Part& part = *events.parts[i];
    const auto first = static_cast<std::size_t>(events.begins[i]), count = static_cast<std::size_t>(part.count);
    if (part.request->finals) {
      part.finals.reserve(count);
      read(finals_, first, count, append(part.finals));
    }
    if (part.request->sequences) {
      part.sequences.reserve(count);
      read(sequences_, first, count, append(part.sequences));
    }
  }
}

}  // namespace raylift::photon
