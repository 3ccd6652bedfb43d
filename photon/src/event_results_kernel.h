// SPDX-License-Identifier: Apache-2.0
// From the outcomes of a launch to the results of each of its events.
#pragma once

#include <raylift/photon/detail/events.h>
#include <raylift/photon/hit_columns.h>

#include <cstddef>

namespace raylift::photon {

/// Counts of an event's photons in a launch.
struct EventCounts {
  std::uint64_t steps;
  std::uint64_t ends[kStepKinds];  ///< by StepKind
  std::uint64_t births[3];         ///< by Tally::Layout::birth() less 1
};

/// The place of a count of an EventCounts, as an array of numbers.
[[nodiscard]] RAYLIFT_HD constexpr std::uint32_t place_of_end(StepKind kind) {
  return 1 + static_cast<std::uint32_t>(kind);
}
[[nodiscard]] RAYLIFT_HD inline std::uint32_t place_of_birth(const Outcome& outcome) {
  return static_cast<std::uint32_t>(kStepKinds + Tally::Layout::birth(birth_kind(outcome)));
}
inline constexpr std::uint32_t kEventCounts = sizeof(EventCounts) / sizeof(std::uint64_t);
static_assert(kEventCounts == 1 + kStepKinds + 3);

/// The hits of an event: where they begin among those of the launch, and where their words do.
struct EventHits {
  std::uint64_t first, first_word;
};

/// A launch's outcomes, and where its results go, at addresses of the device. Null: not wanted.
struct EventArrays {
  const Outcome* outcomes = nullptr;
  std::size_t count = 0;
  EventView events;
  const HitColumns* columns = nullptr;  ///< of each event
  EventCounts* counts = nullptr;        ///< of each event, zeros before
  EventHits* hits = nullptr;            ///< of each event, and in the end those of all
  std::uint32_t* hit_places = nullptr;  ///< in `outcomes`
  std::uint32_t* hit_count = nullptr;
  std::uint32_t* hit_words = nullptr;
  PhotonRow* finals = nullptr;
  std::byte* scratch = nullptr;  ///< of results_scratch() bytes
};

/// The row of the photon at a place.
[[nodiscard]] RAYLIFT_HD inline PhotonRow row_at(const GeometryView& geometry, const EventArrays& launch,
                                                 std::size_t place) {
  const Outcome& outcome = launch.outcomes[place];
  return photon_row(geometry, outcome, launch.events.number(place, outcome.event));
}
/// Writes the words of hit number `hit` of the launch.
RAYLIFT_HD inline void write_hit(const GeometryView& geometry, const EventArrays& launch, std::size_t hit) {
  const std::uint32_t place = launch.hit_places[hit];
  const std::uint32_t event = launch.outcomes[place].event;
  const HitColumns columns = launch.columns[event];
  if (columns.size() == 0) return;
  const PhotonRow row = row_at(geometry, launch, place);
  const EventHits begin = launch.hits[event];
  std::uint32_t* const words = launch.hit_words + begin.first_word + (hit - begin.first) * columns.size();
  for (std::uint32_t i = 0; i != columns.size(); ++i) words[i] = word_of(row, columns[i]);
}

/// A cudaError_t, as int; the device is current.
int launch_event_results(const GeometryView& geometry, const EventArrays& launch, void* stream);

}  // namespace raylift::photon
