// SPDX-License-Identifier: Apache-2.0
// The work of kernels on photons that wait for a boundary: the search for it, and the physics from there to the next
// ray.
#pragma once

#include <raylift/gpu/rays/detail/shared_stack.h>
#include <raylift/gpu/rays/warp_boundary.h>

#include "launches.h"

namespace raylift::photon {

/// What all photons of a launch share.
struct Launch {
  const GeometryView& geometry;
  const Source& source;
  const Anchor& anchor;
  const Run& run;
  const Flights& flights;
  Outcome* outcomes;
};

/// The ray of a photon that waits. kFine: with the rest of its origin.
template <bool kFine>
__device__ inline FineRay fine_ray_of(const WaitingRay* rays, const Pause* pauses, std::size_t i) {
  const Ray ray = bvh_detail::load_by_16_bytes(&rays[i].ray);
  if constexpr (kFine)
    return {{ray.origin, bvh_detail::load_by_16_bytes(pauses + i).rest}, ray.direction, ray.tmax};
  else
    return {ray.origin, ray.direction, ray.tmax};
}

/// The boundaries of `count` waiting photons from number `begin` on, by a warp; later(more, i) as in
/// plain_boundaries_of_warp().
template <class SomeRay, class Later>
__device__ inline void search_by_warp(const GeometryView& geometry, const Flights& flights, const Pause* pauses,
                                      std::uint32_t begin, std::uint32_t count, const Later& later) {
  using Stack = bvh_detail::StackInShared<true, kThreads>;
  typename Stack::Overflow overflow;
  Stack stack(overflow);
  const auto kept = stack.keep(begin);
  const WaitingRay* const rays = flights.rays;
  bvh_detail::plain_boundaries_of_warp<SomeRay>(
      geometry, count,
      [=](std::uint32_t i) { return fine_ray_of<bvh_detail::kIsFine<SomeRay>>(rays, pauses, *kept + i); },
      [=](std::uint32_t i) { return rays[*kept + i].in; }, flights.boundaries + begin, later, stack);
}

/// A photon between two rays.
struct Between {
  bool flying = false;
  std::uint32_t photon = 0;  // its number from the run's first on
  WaitingRay ray;            // where it flies
  Pause pause;
};
/// kBirth: of a photon that is emitted, by its number; else from the boundary of waiting photon q on.
template <bool kBirth>
__device__ __forceinline__ Between advance(const Launch& launch, const Waiting& from, std::uint32_t q) {
  using bvh_detail::load_by_16_bytes;
  Between now;
  Follower follower(launch.geometry, launch.source, launch.anchor, launch.run);
  if constexpr (kBirth) {
    now.photon = q;
    follower.start(launch.run.first + q);
  } else {
    now.photon = from.photons[q];
    follower.resume(launch.run.first + now.photon, load_by_16_bytes(launch.outcomes + now.photon),
                    load_by_16_bytes(from.pauses + q));
    follower.arrive(load_by_16_bytes(launch.flights.boundaries + q));
  }
  FineRay ray;
  now.flying = follower.ray(ray);
  bvh_detail::store_by_16_bytes(launch.outcomes + now.photon, follower.outcome());
  if (now.flying) {
    now.pause = follower.pause();
    now.ray = {{ray.origin.point, 0, ray.direction, ray.tmax}, follower.in()};
  }
  return now;
}

/// Lets a photon wait at a place of the list.
__device__ inline void wait_at(const Flights& flights, const Waiting& list, std::uint32_t place, const Between& now) {
  list.photons[place] = now.photon;
  bvh_detail::store_by_16_bytes(list.pauses + place, now.pause);
  bvh_detail::store_by_16_bytes(flights.rays + place, now.ray);
}

}  // namespace raylift::photon
