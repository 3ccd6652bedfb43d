// SPDX-License-Identifier: Apache-2.0
// One photon from birth to end, for kernels and host code.
#pragma once

#include <raylift/geometry/detail/standard.h>
#include <raylift/photon/detail/birth.h>
#include <raylift/photon/detail/events.h>

namespace raylift::photon {

/// The photons to simulate, and their limits.
struct Run {
  std::uint64_t seed = 0;
  std::uint64_t first = 0;                                ///< number of the first photon
  std::uint32_t most_steps = 10'000;                      ///< a photon with more is cut
  float latest = std::numeric_limits<float>::infinity();  ///< ns; a photon that is later is cut
  ShiftProfile shift_profile = ShiftProfile::delta;
  /// Counters in the device's memory, kBulkProperties for each material. A step at a wavelength that the property's
  /// table does not cover, and so with the value at its end, increments one. Null: steps are not counted. Where there
  /// are several events, kBulkProperties for each of these.
  std::uint64_t* end_values = nullptr;
  /// The events of the photons, where there are several: `first` and all numbers of photons are then places in the
  /// launch, and `seed` is not used.
  EventView events{};
};

/// In Outcome::kinds, above the bits of StepKind. Neither: BirthKind::torch.
inline constexpr std::uint16_t kBornCerenkov = 1U << 14, kBornScintillation = 1U << 15;
static_assert(static_cast<unsigned>(StepKind::cut) < 14, "bits 14 and 15 of Outcome::kinds are those of the birth");
[[nodiscard]] RAYLIFT_HD_INLINE std::uint16_t birth_bit(BirthKind kind) {
  if (kind == BirthKind::cerenkov) return kBornCerenkov;
  return kind == BirthKind::scintillation ? kBornScintillation : std::uint16_t{0};
}

/// A photon's end.
struct alignas(16) Outcome {
  Photon photon;
  StepEnd last;
  std::uint32_t steps;
  std::uint64_t history;  ///< its last 16 steps, by StepKind, 4 bits each; the latest in the lowest bits
  std::uint16_t kinds;    ///< a bit for each kind of all of its steps: 1 << kind; and kBorn... of its birth
  std::uint32_t event;    ///< of Run::events
};
static_assert(sizeof(Outcome) == 96);

/// Follows a photon of a source from birth to end, by its number. `anchor` is anchor_of(geometry, source), which given
/// photons don't need.
[[nodiscard]] RAYLIFT_HD_INLINE Outcome follow(const GeometryView& geometry, const Source& source, const Anchor& anchor,
                                               const Run& run, std::uint64_t number);

}  // namespace raylift::photon

#include <raylift/photon/detail/follower.h>

namespace raylift::photon {

RAYLIFT_HD_INLINE Outcome follow(const GeometryView& geometry, const Source& source, const Anchor& anchor,
                                 const Run& run, std::uint64_t number) {
  Follower follower(geometry, source, anchor, run);
  follower.start(number);
  FineRay ray;
  while (follower.ray(ray)) follower.arrive(next_boundary(geometry, ray, follower.in()));
  return follower.outcome();
}

}  // namespace raylift::photon
