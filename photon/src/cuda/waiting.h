// SPDX-License-Identifier: Apache-2.0
// Photons between a kernel that puts them on the list of those that wait for a boundary, and the next one.
#pragma once

#include <raylift/gpu/rays/detail/by_16_bytes.h>

#include "propagate_kernel.h"

namespace raylift::photon {

// In WaitingWay::solid, of a photon whose set has exceptions. Solids are instances, of which build_bvh() takes
// at most 2^31 - 1.
inline constexpr std::uint32_t kHasExceptions = 1U << 31;
[[nodiscard]] __device__ inline bool has_exceptions(std::uint32_t solid) {
  return solid >= (kNoSolid ^ kHasExceptions) && solid != kNoSolid;
}

/// The solids that photon q's ray starts in. solid: WaitingWay::solid of the photon.
[[nodiscard]] __device__ inline Containment solids_of_waiting(std::uint32_t solid, const WaitingExceptions* exceptions,
                                                              std::size_t q) {
  Containment in{solid};
  if (has_exceptions(solid)) {
    in.solid ^= kHasExceptions;
    for (int i = 0; i != 2; ++i) in.exceptions[i] = exceptions[q].solids[i];
  }
  return in;
}

/// The ray of photon q. kFine: with the low parts of its origin.
template <bool kFine>
__device__ inline FineRay waiting_ray(const WaitingStart* starts, const WaitingWay* ways, const Float3* rests,
                                      std::size_t q) {
  const auto start = bvh_detail::load_by_16_bytes(starts + q);
  const auto way = bvh_detail::load_by_16_bytes(ways + q);
  if constexpr (kFine)
    return {{start.origin, rests[q]}, way.direction, start.tmax};
  else
    return {start.origin, way.direction, start.tmax};
}

/// Where the parts of one photon are: in a list, or copied from it.
struct WaitingParts {
  const WaitingStart* start;
  const WaitingWay* way;
  const WaitingLight* light;
  const WaitingPast* past;
  const WaitingNumbers* numbers;
};
__device__ inline WaitingParts parts_of(const Waiting& list, std::size_t q) {
  return {list.starts + q, list.ways + q, list.lights + q, list.pasts + q, list.numbers + q};
}

/// A photon of a list, as a Follower continues it.
struct Resumed {
  std::uint32_t photon;  ///< its number from the run's first on
  Outcome so_far;
  Pause pause;
};
/// Photon q of the list. kFine: with the low parts of its origin.
template <bool kFine>
__device__ __forceinline__ Resumed resumed(const Waiting& list, const WaitingParts& at, std::size_t q) {
  using bvh_detail::load_by_16_bytes;
  const auto numbers = load_by_16_bytes(at.numbers);
  const auto start = load_by_16_bytes(at.start);
  const auto way = load_by_16_bytes(at.way);
  const auto light = load_by_16_bytes(at.light);
  const auto past = load_by_16_bytes(at.past);
  Resumed photon;
  photon.photon = numbers.photon;
  photon.pause = {numbers.pause, {0, 0, 0}};
  if (kFine && list.rests != nullptr) photon.pause.rest = list.rests[q];
  const Containment in = solids_of_waiting(way.solid, list.exceptions, q);
  StepEnd last;
  if (numbers.material != MaterialCode::none) {
    last.material = numbers.material;
    last.from = last.to = in.solid;
  }
  photon.so_far = {{start.origin, past.time, way.direction, light.wavelength, light.polarization, in},
                   last,
                   past.steps,
                   past.history,
                   numbers.kinds,
                   numbers.event};
  return photon;
}

/// Puts a photon in a place of the list, to wait for the boundary of a ray that ends at tmax. Of
/// Outcome::last the list keeps the material: its other members are as begin_step() makes them.
__device__ __forceinline__ void wait_at(const Waiting& list, std::size_t place, const Resumed& photon, float tmax) {
  using bvh_detail::store_by_16_bytes;
  const Outcome& so_far = photon.so_far;
  const Photon& now = so_far.photon;
  const bool consistent = now.in.consistent();
  store_by_16_bytes(list.starts + place, WaitingStart{now.position, tmax});
  store_by_16_bytes(list.ways + place,
                    WaitingWay{now.direction, consistent ? now.in.solid : now.in.solid ^ kHasExceptions});
  store_by_16_bytes(list.lights + place, WaitingLight{now.polarization, now.wavelength});
  store_by_16_bytes(list.pasts + place, WaitingPast{so_far.history, so_far.steps, now.time});
  store_by_16_bytes(list.numbers + place, WaitingNumbers{photon.photon, photon.pause.drawn_and_phase, so_far.kinds,
                                                         so_far.last.material, so_far.event});
  if (!consistent) list.exceptions[place] = {{now.in.exceptions[0], now.in.exceptions[1]}};
  if (list.rests != nullptr) list.rests[place] = photon.pause.rest;
}

}  // namespace raylift::photon
