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

// What walks of a warp note is in the stack's memory, as registers are short there; the set is read again.
template <class SomeCold, class In>
struct WarpNotes {
  SomeCold cold;
  In in;
  std::uint32_t ray;

  __device__ WarpNotes(SomeCold memory, const In& sets, std::uint32_t i) : cold(memory), in(sets), ray(i) {}
  WarpNotes(const WarpNotes&) = default;
  // `in` is that of all rays, and closures can't be assigned.
  __device__ WarpNotes& operator=(const WarpNotes& other) {
    cold = other.cold;
    ray = other.ray;
    return *this;
  }
  [[nodiscard]] __device__ Containment set() const { return in(ray); }
  [[nodiscard]] __device__ Site site() const { return cold.site(); }
  [[nodiscard]] __device__ float near() const { return cold.near(); }
  __device__ void note(Site site, float near) const { cold.set(site, near); }
};

// store(i, faces) for the ray of each walk; count and ranges as in trace_warp().
template <class SomeRay, bool kScene, class Fetch, class In, class Store, class SomeStack, class Ranges = OneRange>
__device__ inline void nearest_faces_of_warp(const GeometryView& geometry, std::uint32_t count, const Fetch& fetch,
                                             const In& in, const Store& store, SomeStack& stack,
                                             const Ranges& ranges = {}) {
  const GeometryView* const view = &geometry;
  const auto make = [=](std::uint32_t i, const SomeRay& of_walk, auto cold) {
    using Notes = WarpNotes<decltype(cold), In>;
    return NearestCounting<SomeRay, true, true, Notes>(*view, of_walk, Notes{cold, in, i}, i != kNoRay);
  };
  trace_warp<kScene>(
      geometry.bvh, count, WalkRays<SomeRay, Fetch>{view, fetch}, make,
      [=](std::uint32_t i, const auto& query) { store(i, FoundFaces(query.faces())); }, stack, ranges);
}
template <class SomeRay, class Fetch, class In, class Store, class SomeStack>
__device__ inline void nearest_faces_of_warp(const GeometryView& geometry, std::uint32_t count, const Fetch& fetch,
                                             const In& in, const Store& store, SomeStack& stack) {
  if (geometry.bvh_levels == 2)
    nearest_faces_of_warp<SomeRay, true>(geometry, count, fetch, in, store, stack);
  else
    nearest_faces_of_warp<SomeRay, false>(geometry, count, fetch, in, store, stack);
}

// The boundary of a ray behind its walk where its place is plain. False: it is not, and finish_boundary is to be asked.
template <class SomeRay>
[[nodiscard]] __device__ inline bool plain_boundary(const GeometryView& geometry, const FineRay& ray,
                                                    const Containment& in, const FoundFaces& found,
                                                    Boundary& boundary) {
  const SomeRay way = ray_of_walk<SomeRay>(geometry, ray);
  BoundaryPlace place;
  if (!plain_change(geometry, way, in, found.of(geometry, way), place)) return false;
  boundary = boundary_at<SomeRay>(geometry, ray, in, place);
  return true;
}

// What is left to do behind the walk, for a ray whose place is not plain. A call, as it has the registers to itself
// then.
template <class SomeRay>
[[nodiscard]] __device__ __noinline__ Boundary finish_boundary(const GeometryView& geometry, FineRay ray,
                                                               Containment in, FoundFaces found) {
  const SomeRay way = ray_of_walk<SomeRay>(geometry, ray);
  return boundary_at<SomeRay>(geometry, ray, in, next_change(geometry, way, in, found.of(geometry, way)));
}

// The boundaries of all rays behind their walks. found[i] may lie at boundaries[i]. A call likewise.
template <class SomeRay, class Fetch, class In>
__device__ __noinline__ void finish_boundaries_in_warp(const GeometryView& geometry, std::uint32_t count, Fetch fetch,
                                                       In in, Boundary* boundaries) {
  for (std::uint32_t i = threadIdx.x & 31u; i < count; i += 32) {
    const FineRay ray = fetch(i);
    const Containment set = in(i);
    const FoundFaces found = *reinterpret_cast<const FoundFaces*>(boundaries + i);
    Boundary boundary;
    if (!plain_boundary<SomeRay>(geometry, ray, set, found, boundary))
      boundary = finish_boundary<SomeRay>(geometry, ray, set, found);
    store_by_16_bytes(boundaries + i, boundary);
  }
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
    bvh_detail::nearest_faces_of_warp<SomeRay>(
        geometry, count, fetch, in,
        [=](std::uint32_t i, const bvh_detail::FoundFaces& found) {
          bvh_detail::store_by_16_bytes(reinterpret_cast<bvh_detail::FoundFaces*>(boundaries + i), found);
        },
        stack);
    __syncwarp();
    bvh_detail::finish_boundaries_in_warp<SomeRay>(geometry, count, fetch, in, boundaries);
  };
  if (geometry.is_fine())
    find(bvh_detail::FineWalkRay());
  else
    find(Ray());
}

}  // namespace raylift

#endif
