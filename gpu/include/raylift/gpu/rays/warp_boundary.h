// SPDX-License-Identifier: Apache-2.0
// next_boundary for kernels that have many rays: the 32 threads of a warp share the work on a range of them, as in
// closest_hits_of_warp. The same boundaries as next_boundary gives, bit for bit.
#pragma once

#if defined(__CUDACC__)

#include <raylift/gpu/rays/boundary.h>
#include <raylift/gpu/rays/warp_query.h>

namespace raylift {
namespace bvh_detail {

// What the walk of each ray found is left where its boundary will be.
template <bool kScene, class Fetch, class In>
__device__ inline void nearest_faces_of_warp(const GeometryView& geometry, std::uint32_t count, const Fetch& fetch,
                                             const In& in, Boundary* boundaries) {
  const GeometryView* const view = &geometry;
  const auto ray = [=](std::uint32_t i) -> Ray { return ray_of_walk(*view, fetch(i)); };
  using Query = NearestCounting<true>;
  const auto make = [=](std::uint32_t i, const Ray& of_walk, Group*) {
    return i == kNoRay ? Query(*view, of_walk, {}, false) : Query(*view, of_walk, in(i), starts_anew(fetch(i)));
  };
  trace_warp<kScene>(geometry.bvh, count, ray, make, [=](std::uint32_t i, const Query& query) {
    *reinterpret_cast<NearestFaces*>(boundaries + i) = query;
  });
}

// Rays of a warp that take more than a lone face, until there are enough of them for all threads.
struct Pending {
  static constexpr std::uint32_t kMostWarps = 32;
  std::uint32_t rays[kMostWarps][64];
};

// A call, as it has the registers to itself then.
template <class Fetch, class In>
__device__ __noinline__ void finish_boundaries_in_warp(const GeometryView& geometry, std::uint32_t count, Fetch fetch,
                                                       In in, Boundary* boundaries) {
  constexpr unsigned kAll = 0xFFFFFFFFu;
  __shared__ Pending pending;
  const std::uint32_t lane = threadIdx.x & 31u;
  std::uint32_t* const rays = pending.rays[threadIdx.x / 32];
  std::uint32_t waiting = 0;
  const auto nearest_of = [=](std::uint32_t i) { return *reinterpret_cast<const NearestFaces*>(boundaries + i); };
  const auto finish_some = [&](std::uint32_t these) {
    __syncwarp();
    if (lane < these) {
      const std::uint32_t i = rays[lane];
      const Ray ray = fetch(i);
      const Containment set = in(i);
      boundaries[i] =
          boundary_at(geometry, ray, set, next_change(geometry, ray_of_walk(geometry, ray), set, nearest_of(i)));
    }
    __syncwarp();
  };
  for (std::uint32_t first = 0; first < count; first += 32) {
    const std::uint32_t i = first + lane;
    bool more = false;
    if (i < count) {
      const Ray ray = fetch(i);
      const Containment set = in(i);
      Place place;
      more = !plain_change(geometry, ray_of_walk(geometry, ray), set, nearest_of(i), place);
      if (!more) boundaries[i] = boundary_at(geometry, ray, set, place);
    }
    const unsigned wanting = __ballot_sync(kAll, more);
    if (more) rays[waiting + static_cast<std::uint32_t>(__popc(wanting & ((1u << lane) - 1u)))] = i;
    waiting += static_cast<std::uint32_t>(__popc(wanting));
    if (waiting >= 32) {
      finish_some(32);
      waiting -= 32;
      const std::uint32_t moved = lane < waiting ? rays[32 + lane] : 0;
      __syncwarp();
      rays[lane] = moved;
    }
  }
  finish_some(waiting);
}

}  // namespace bvh_detail

/// Writes next_boundary(geometry, fetch(i), in(i)) to boundaries[i] for each i in [0, count): by all 32 threads of a
/// warp, which get the same arguments and must all be there. Blocks are one-dimensional. fetch and in may be called
/// more than once for a ray, and by different threads.
template <class Fetch, class In>
__device__ inline void boundaries_of_warp(const GeometryView& geometry, std::uint32_t count, const Fetch& fetch,
                                          const In& in, Boundary* boundaries) {
  static_assert(sizeof(bvh_detail::NearestFaces) <= sizeof(Boundary));
  if (geometry.bvh_levels == 2)
    bvh_detail::nearest_faces_of_warp<true>(geometry, count, fetch, in, boundaries);
  else
    bvh_detail::nearest_faces_of_warp<false>(geometry, count, fetch, in, boundaries);
  __syncwarp();
  bvh_detail::finish_boundaries_in_warp(geometry, count, fetch, in, boundaries);
}

}  // namespace raylift

#endif
