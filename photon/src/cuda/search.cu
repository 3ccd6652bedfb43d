// SPDX-License-Identifier: Apache-2.0
// The search for the boundaries that photons wait for.
#include <raylift/gpu/rays/detail/shared_stack.h>
#include <raylift/gpu/rays/warp_boundary.h>

#include "launches.h"

namespace raylift::photon {
namespace {

using bvh_detail::FineWalkRay;
using bvh_detail::finish_boundary;
using bvh_detail::kIsFine;

// Rays of one warp, at most: enough that waiting for the last of them costs little.
constexpr std::uint32_t kRaysPerWarp = 512;
// Blocks that a multiprocessor is to hold, which bounds a thread's registers. Measured: see docs/lab_notes.md.
template <class SomeRay>
constexpr int kSearchBlocks = kIsFine<SomeRay> ? 4 : 6;
constexpr int kRestBlocks = 4;

// The boundaries of `count` waiting photons from number `begin` on, by a warp; later(more, i) as in
// plain_boundaries_of_warp().
template <class SomeRay, class Later>
__device__ void search_by_warp(const GeometryView& geometry, const Flights& flights, const Pause* pauses,
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

// The boundaries that photons wait for. A kernel of its own: search and physics in one are more code than the
// instruction cache holds, and threads that wait for each other at both.
template <class SomeRay>
__global__ void __launch_bounds__(kThreads, kSearchBlocks<SomeRay>)
    search_each(const __grid_constant__ GeometryView geometry, const __grid_constant__ Flights flights, Waiting waiting,
                std::uint32_t* next) {
  const std::uint32_t count = *waiting.count;
  if (first_of_thread() == 0) *next = 0;
  const std::uint32_t warps = stride() / 32, share = (count + warps - 1) / warps;
  const std::uint32_t rays = share <= 32 ? share : share < kRaysPerWarp ? (share + 31) / 32 * 32 : kRaysPerWarp;
  for (std::uint64_t first = std::uint64_t{first_of_thread() / 32} * rays; first < count;
       first += std::uint64_t{warps} * rays) {
    const auto begin = static_cast<std::uint32_t>(first);
    search_by_warp<SomeRay>(geometry, flights, waiting.pauses, begin, count - begin < rays ? count - begin : rays,
                            [=](bool more, std::uint32_t i) {
                              const std::uint32_t place = append(more, flights.rest.count);
                              if (more) flights.rest.rays[place] = begin + i;
                            });
  }
}

// The same for the rays whose boundary is not plain. They are few, and slow.
template <class SomeRay>
__global__ void __launch_bounds__(kThreads, kRestBlocks)
    search_rest(const __grid_constant__ GeometryView geometry, const __grid_constant__ Flights flights,
                const Pause* pauses) {
  const std::uint32_t count = *flights.rest.count;
  for (std::uint32_t q = first_item(count); q < count; q += stride()) {
    const std::uint32_t i = flights.rest.rays[q];
    finish_boundary<SomeRay>(geometry, fine_ray_of<kIsFine<SomeRay>>(flights.rays, pauses, i), flights.rays[i].in,
                             flights.boundaries + i);
  }
}

}  // namespace

cudaError_t blocks_for_search(const GeometryView& geometry, std::size_t count, SearchBlocks& blocks) {
  const auto search = geometry.is_fine() ? search_each<FineWalkRay> : search_each<Ray>;
  const auto rest = geometry.is_fine() ? search_rest<FineWalkRay> : search_rest<Ray>;
  const cudaError_t error = blocks_for(search, count, blocks.each);
  return error != cudaSuccess ? error : blocks_for(rest, count, blocks.rest);
}

cudaError_t launch_search(const GeometryView& geometry, const Flights& flights, const Waiting& waiting,
                          std::uint32_t* next, SearchBlocks blocks, cudaStream_t stream) {
  const auto search = geometry.is_fine() ? search_each<FineWalkRay> : search_each<Ray>;
  const auto rest = geometry.is_fine() ? search_rest<FineWalkRay> : search_rest<Ray>;
  search<<<blocks.each, kThreads, 0, stream>>>(geometry, flights, waiting, next);
  rest<<<blocks.rest, kThreads, 0, stream>>>(geometry, flights, waiting.pauses);
  return cudaGetLastError();
}

}  // namespace raylift::photon
