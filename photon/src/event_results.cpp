// SPDX-License-Identifier: Apache-2.0
#include "event_results.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "device/run_on.h"
#include "for_each.h"
#include "select_hits.h"

namespace raylift::photon {
namespace {

using EventNumbers = std::array<std::uint64_t, kEventCounts>;

void add_to_event(EventCounts& counts, const EventNumbers& own) {
  static_assert(sizeof(EventCounts) == sizeof(EventNumbers));
  auto* const to = reinterpret_cast<std::uint64_t*>(&counts);
  for (std::size_t i = 0; i != own.size(); ++i)
    if (own[i] != 0) std::atomic_ref(to[i]).fetch_add(own[i], std::memory_order_relaxed);
}

/// An event's photons lie together, so a block adds to few of them.
void count_events(const EventArrays& launch) {
  for_each_block(launch.count, [&](std::size_t, std::size_t begin, std::size_t end) {
    EventNumbers own{};
    for (std::size_t i = begin; i != end; ++i) {
      const Outcome& outcome = launch.outcomes[i];
      own[0] += outcome.steps;
      ++own[place_of_end(outcome.last.kind)];
      ++own[place_of_birth(outcome)];
      if (i + 1 != end && launch.outcomes[i + 1].event == outcome.event) continue;
      add_to_event(launch.counts[outcome.event], own);
      own = {};
    }
  });
}

void find_event_hits(const EventArrays& launch) {
  EventHits next{0, 0};
  for (std::uint32_t event = 0; event != launch.events.count; ++event) {
    launch.hits[event] = next;
    const std::uint64_t hits = launch.counts[event].ends[static_cast<std::size_t>(StepKind::detected)];
    next.first += hits;
    next.first_word += hits * launch.columns[event].size();
  }
  launch.hits[launch.events.count] = next;
}

}  // namespace

void make_event_results(const GpuGeometry& geometry, const EventArrays& launch, StreamRef stream) {
  const GeometryView& view = geometry.view();
  raylift::detail::run_on(
      geometry.device(), "the kernels of results", [&] { return launch_event_results(view, launch, stream.handle()); },
      [&] {
        count_events(launch);
        find_event_hits(launch);
        if (launch.hit_words != nullptr) {
          *launch.hit_count = select_hits(launch.outcomes, launch.count, launch.hit_places);
          for_each(*launch.hit_count, [&](std::size_t hit) { write_hit(view, launch, hit); });
        }
        if (launch.finals == nullptr) return;
        for_each(launch.count, [&](std::size_t i) { launch.finals[i] = row_at(view, launch, i); });
      });
}

}  // namespace raylift::photon
