// SPDX-License-Identifier: Apache-2.0
// The search for the boundaries that photons wait for.
#include <raylift/gpu/rays/detail/shared_stack.h>
#include <raylift/gpu/rays/warp_boundary.h>

#include "launches.h"
#include "waiting.h"

namespace raylift::photon {
namespace {

using bvh_detail::FineWalkRay;
using bvh_detail::kIsFine;

// Rays that a warp takes at a time, at most.
constexpr std::uint32_t kRaysPerWarp = 256;
// Blocks that a multiprocessor is to hold, which bounds a thread's registers. Measured: see docs/lab_notes.md.
template <class SomeRay>
constexpr int kSearchBlocks = kIsFine<SomeRay> ? 4 : 6;

// Rays that warps take as they are done with what they took before: less and less of what is left, so that all end
// together.
template <class Kept>
struct SharedOut {
  Kept kept;  // the first of what the warp took
  std::uint32_t* taken;
  std::uint32_t count;

  [[nodiscard]] __device__ std::uint32_t first() const { return static_cast<std::uint32_t>(*kept); }
  [[nodiscard]] __device__ std::uint32_t next() const {
    std::uint32_t begin = 0, rays = 32;
    if ((threadIdx.x & 31u) == 0) {
      const std::uint32_t before = *static_cast<volatile std::uint32_t*>(taken);
      const std::uint32_t share = before < count ? (count - before) / (stride() / 32 * 2) / 32 * 32 : 0;
      rays = share < 32 ? 32 : share < kRaysPerWarp ? share : kRaysPerWarp;
      begin = atomicAdd(taken, rays);
    }
    begin = __shfl_sync(0xFFFFFFFFu, begin, 0);
    rays = __shfl_sync(0xFFFFFFFFu, rays, 0);
    kept.set(begin);
    return begin >= count ? 0 : count - begin < rays ? count - begin : rays;
  }
};

// The search for the boundaries that photons wait for. A kernel of its own: search and physics in one are more code
// than the instruction cache holds, and threads that wait for each other at both.
template <class SomeRay, bool kScene>
__global__ void __launch_bounds__(kThreads, kSearchBlocks<SomeRay>)
    search_each(const __grid_constant__ GeometryView geometry, const __grid_constant__ Round round) {
  if (first_of_thread() == 0) *round.behind.count = *round.postponed_count = 0;
  using Stack = bvh_detail::StackInShared<kScene, kThreads>;
  typename Stack::Overflow overflow;
  Stack stack(overflow);
  const auto kept = stack.keep(0);
  const WaitingStart* const starts = round.from.starts;
  const WaitingWay* const ways = round.from.ways;
  const Float3* const rests = round.from.rests;
  const WaitingExceptions* const exceptions = round.from.exceptions;
  bvh_detail::FoundFaces* const all_found = round.found;
  bvh_detail::nearest_faces_of_warp<SomeRay, kScene>(
      geometry, bvh_detail::kMoreRanges,
      [=](std::uint32_t i) { return waiting_ray<kIsFine<SomeRay>>(starts, ways, rests, i); },
      [=](std::uint32_t i) { return solids_of_waiting(ways[i].solid, exceptions, i); },
      [=](std::uint32_t i, const bvh_detail::FoundFaces& found) {
        bvh_detail::store_by_16_bytes(all_found + i, found);
      },
      stack, SharedOut<decltype(kept)>{kept, round.searched, *round.from.count});
}

using Search = decltype(&search_each<Ray, false>);
Search search_in(const GeometryView& geometry) {
  if (geometry.is_fine())
    return geometry.bvh_levels == 2 ? search_each<FineWalkRay, true> : search_each<FineWalkRay, false>;
  return geometry.bvh_levels == 2 ? search_each<Ray, true> : search_each<Ray, false>;
}

}  // namespace

cudaError_t blocks_for_search(const GeometryView& geometry, std::size_t count, unsigned& blocks) {
  return blocks_for(search_in(geometry), count, blocks);
}

cudaError_t launch_search(const GeometryView& geometry, const Round& round, unsigned blocks, cudaStream_t stream) {
  search_in(geometry)<<<blocks, kThreads, 0, stream>>>(geometry, round);
  return cudaGetLastError();
}

}  // namespace raylift::photon
