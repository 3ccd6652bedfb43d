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

// A call, as it has the registers to itself then.
template <class Fetch, class In>
__device__ __noinline__ void finish_boundaries_in_warp(const GeometryView& geometry, std::uint32_t count, Fetch fetch,
                                                       In in, Boundary* boundaries) {
  for (std::uint32_t i = threadIdx.x & 31u; i < count; i += 32) {
    const NearestFaces nearest = *reinterpret_cast<const NearestFaces*>(boundaries + i);
    boundaries[i] = boundary_of(geometry, fetch(i), in(i), nearest);
  }
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
