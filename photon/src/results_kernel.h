// SPDX-License-Identifier: Apache-2.0
// From outcomes to results: what a device does with a batch, and the launches of its kernels.
#pragma once

#include <raylift/photon/results.h>

#include <cstddef>

namespace raylift::photon {

/// A batch's outcomes, and where its results go, at addresses of the device. Null: not wanted.
struct BatchArrays {
  const Outcome* outcomes = nullptr;
  std::size_t count = 0;
  std::uint64_t first = 0;  ///< number of the first photon
  Tally::Layout layout;
  const std::uint32_t* channel_of_solid = nullptr;  ///< index of its channel; null: there are no channels
  std::uint64_t* counts = nullptr;
  PhotonRow* finals = nullptr;
  PhotonRow* hits = nullptr;
  std::uint32_t* hit_places = nullptr;  ///< in `outcomes`
  std::uint32_t* hit_count = nullptr;
  std::byte* scratch = nullptr;  ///< of results_scratch() bytes
};

/// Calls add(place in the counts, by how much) for what an outcome adds.
template <class Add>
RAYLIFT_HD inline void tally(const BatchArrays& batch, const OpticsView& optics, const Outcome& outcome,
                             const Add& add) {
  const StepEnd& last = outcome.last;
  const auto kind = static_cast<std::uint32_t>(last.kind);
  add(batch.layout.birth(birth_kind(outcome)), 1U);
  add(batch.layout.material(last.material, kind), 1U);
  add(batch.layout.surface(last.surface, kind), 1U);
  if (last.kind != StepKind::detected || last.channel == kNoChannel || batch.channel_of_solid == nullptr) return;
  const std::uint32_t index = batch.channel_of_solid[solid_met(optics, last)];
  add(batch.layout.channel(index), 1U);
  if (batch.layout.time_bins != 0) add(batch.layout.time(index, outcome.photon.time), 1U);
}

/// Follows a photon and calls see(slot, outcome) at its birth, slot 0, and after each of its events.
template <class See>
RAYLIFT_HD inline void follow_and_see(const GeometryView& geometry, const Source& source, const Anchor& anchor,
                                      const Run& run, std::uint64_t number, const See& see) {
  Follower follower(geometry, source, anchor, run);
  follower.start(number);
  FineRay ray;
  std::uint32_t slot = 0;
  while (follower.ray(ray)) {
    if (follower.outcome().steps == 1 && slot == 0) see(slot++, follower.outcome());
    follower.arrive(next_boundary(geometry, ray, follower.in()));
    if (slot == 0) continue;  // on its way to its birth
    see(slot++, follower.outcome());
    if (ends(follower.outcome().last.kind)) return;
  }
  if (slot == 0) {  // it ended where it was born
    Outcome born = follower.outcome();
    born.last.kind = StepKind::none;
    born.kinds = birth_bit(birth_kind(born));
    see(slot++, born);
  }
  see(slot, follower.outcome());
}

RAYLIFT_HD inline void add_event(Sequence& sequence, std::uint32_t slot, std::uint32_t number) {
  if (slot < kSequenceEvents) sequence.events[slot / 16] |= std::uint64_t{number} << (4 * (slot % 16));
}

/// The outcome's own history has the last 16 events: a photon with more is followed again.
RAYLIFT_HD inline Sequence sequence_of(const GeometryView& geometry, const Source& source, const Anchor& anchor,
                                       const Run& run, std::uint64_t number, const Outcome& outcome) {
  Sequence sequence{{0, 0}, {0, 0}};
  const auto birth = static_cast<std::uint32_t>(birth_kind(outcome));
  const std::uint32_t events = outcome.steps + (outcome.last.kind == StepKind::cut ? 1U : 0U);
  if (events <= 16) {
    add_event(sequence, 0, birth);
    for (std::uint32_t i = 0; i != events; ++i)
      add_event(sequence, events - i, opticks_number(static_cast<StepKind>(outcome.history >> (4 * i) & 15U)));
    return sequence;
  }
  follow_and_see(geometry, source, anchor, run, number, [&](std::uint32_t slot, const Outcome& now) {
    add_event(sequence, slot, slot == 0 ? birth : opticks_number(now.last.kind));
  });
  return sequence;
}

RAYLIFT_HD inline void record_steps(const GeometryView& geometry, const Source& source, const Anchor& anchor,
                                    const Run& run, std::uint64_t number, PhotonRow* rows) {
  for (std::uint32_t slot = 0; slot != kSequenceEvents; ++slot) rows[slot] = {};
  follow_and_see(geometry, source, anchor, run, number, [&](std::uint32_t slot, const Outcome& now) {
    if (slot >= kSequenceEvents) return;
    rows[slot] = photon_row(geometry, now, run.events.number(number, now.event));
    if (slot == 0) rows[slot].flag = static_cast<std::uint16_t>(flag_of(birth_kind(now)));
  });
}

/// All return a cudaError_t, as int; the device is current.
int results_scratch(std::size_t count, std::size_t& bytes);
/// The places of those that were detected, in order, and their number; `scratch` has results_scratch() bytes.
int select_hits(const Outcome* outcomes, std::size_t count, std::uint32_t* places, std::uint32_t* hit_count,
                std::byte* scratch, void* stream);
int launch_results(const GeometryView& geometry, const BatchArrays& batch, void* stream);
int launch_sequences(const GeometryView& geometry, const Source& source, const Anchor* anchor, const Run& run,
                     const Outcome* outcomes, Sequence* sequences, std::size_t count, void* stream);
int launch_record(const GeometryView& geometry, const Source& source, const Anchor* anchor, const Run& run,
                  PhotonRow* rows, std::size_t photons, void* stream);

}  // namespace raylift::photon
