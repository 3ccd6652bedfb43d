// SPDX-License-Identifier: Apache-2.0
// next_boundary for kernels that have many rays: the 32 threads of a warp share the work on a range of them, as in
// closest_hits_of_warp. The same boundaries as next_boundary gives, bit for bit.
#pragma once

#if defined(__CUDACC__)

#include <raylift/gpu/rays/boundary.h>
#include <raylift/gpu/rays/detail/by_16_bytes.h>
#include <raylift/gpu/rays/warp_query.h>

namespace raylift {
namespace bvh_detail {

// The rays of walks, by their numbers.
template <class SomeRay, class Fetch>
struct WalkRays {
  const GeometryView* view;
  Fetch fetch;

  __device__ SomeRay operator()(std::uint32_t i) const { return ray_of_walk<SomeRay>(*view, fetch(i)); }
  __device__ Float3 rest(std::uint32_t i) const { return fetch(i).origin.rest; }
};

// What the walk of each ray found is left where its boundary will be.
template <class SomeRay, bool kScene, class Fetch, class In, class SomeStack>
__device__ inline void nearest_faces_of_warp(const GeometryView& geometry, std::uint32_t count, const Fetch& fetch,
                                             const In& in, Boundary* boundaries, SomeStack& stack) {
  const GeometryView* const view = &geometry;
  using Query = NearestCounting<SomeRay, true, true>;
  const auto make = [=](std::uint32_t i, const SomeRay& of_walk, const auto&) {
    return i == kNoRay ? Query(*view, of_walk, {}, false) : Query(*view, of_walk, in(i), true);
  };
  trace_warp<kScene>(
      geometry.bvh, count, WalkRays<SomeRay, Fetch>{view, fetch}, make,
      [=](std::uint32_t i, const Query& query) { *reinterpret_cast<NearestFaces<SomeRay>*>(boundaries + i) = query; },
      stack);
}

// What is left to do behind the walk, for a ray whose place is not plain. A call, as it has the registers to itself
// then.
template <class SomeRay>
__device__ __noinline__ void finish_boundary(const GeometryView& geometry, FineRay ray, Containment in,
                                             Boundary* boundary) {
  const NearestFaces<SomeRay> nearest = *reinterpret_cast<const NearestFaces<SomeRay>*>(boundary);
  const SomeRay way = ray_of_walk<SomeRay>(geometry, ray);
  store_by_16_bytes(boundary, boundary_at<SomeRay>(geometry, ray, in, next_change(geometry, way, in, nearest)));
}

// The boundaries of those rays whose place is plain; later(wants, i) for all threads of the warp together: whether ray
// i of this thread is another one. A call likewise.
template <class SomeRay, class Fetch, class In, class Later>
__device__ __noinline__ void plain_boundaries_in_warp(const GeometryView& geometry, std::uint32_t count, Fetch fetch,
                                                      In in, Boundary* boundaries, Later later) {
  for (std::uint32_t first = 0; first < count; first += 32) {
    const std::uint32_t i = first + (threadIdx.x & 31u);
    bool more = false;
    if (i < count) {
      const FineRay ray = fetch(i);
      const Containment set = in(i);
      const NearestFaces<SomeRay> nearest = *reinterpret_cast<const NearestFaces<SomeRay>*>(boundaries + i);
      BoundaryPlace place;
      more = !plain_change(geometry, ray_of_walk<SomeRay>(geometry, ray), set, nearest, place);
      if (!more) store_by_16_bytes(boundaries + i, boundary_at<SomeRay>(geometry, ray, set, place));
    }
    later(more, i);
  }
}

// boundaries_of_warp, but for rays whose place is not plain: for these finish_boundary is still to be called.
template <class SomeRay, class Fetch, class In, class Later, class SomeStack>
__device__ inline void plain_boundaries_of_warp(const GeometryView& geometry, std::uint32_t count, const Fetch& fetch,
                                                const In& in, Boundary* boundaries, const Later& later,
                                                SomeStack& stack) {
  static_assert(sizeof(NearestFaces<SomeRay>) <= sizeof(Boundary));
  if (geometry.bvh_levels == 2)
    nearest_faces_of_warp<SomeRay, true>(geometry, count, fetch, in, boundaries, stack);
  else
    nearest_faces_of_warp<SomeRay, false>(geometry, count, fetch, in, boundaries, stack);
  __syncwarp();
  plain_boundaries_in_warp<SomeRay>(geometry, count, fetch, in, boundaries, later);
}

}  // namespace bvh_detail

/// Writes next_boundary(geometry, fetch(i), in(i)) to boundaries[i] for each i in [0, count): by all 32 threads of a
/// warp, which get the same arguments and must all be there. Blocks are one-dimensional. fetch and in may be called
/// more than once for a ray, and by different threads.
template <class Fetch, class In>
__device__ inline void boundaries_of_warp(const GeometryView& geometry, std::uint32_t count, const Fetch& fetch,
                                          const In& in, Boundary* boundaries) {
  const auto find = [&]<class SomeRay>(const SomeRay&) {
    bvh_detail::Stack<true> stack;
    bvh_detail::plain_boundaries_of_warp<SomeRay>(
        geometry, count, fetch, in, boundaries,
        [=, &geometry](bool more, std::uint32_t i) {
          if (more) bvh_detail::finish_boundary<SomeRay>(geometry, fetch(i), in(i), boundaries + i);
          __syncwarp();
        },
        stack);
  };
  if (geometry.is_fine())
    find(bvh_detail::FineWalkRay());
  else
    find(Ray());
}

}  // namespace raylift

#endif
