// SPDX-License-Identifier: Apache-2.0
#include <raylift/gpu/rays/detail/shared_stack.h>
#include <raylift/gpu/rays/warp_boundary.h>

#include "blocks.h"
#include "propagate_kernel.h"

namespace raylift::photon {
namespace {

using bvh_detail::FineWalkRay;
using bvh_detail::finish_boundary;
using bvh_detail::kIsFine;
using bvh_detail::load_by_16_bytes;
using bvh_detail::plain_boundaries_of_warp;
using bvh_detail::StackInShared;
using bvh_detail::store_by_16_bytes;

constexpr unsigned kThreads = 128;
// Rays of one warp, at most: enough that waiting for the last of them costs little.
constexpr std::uint32_t kRaysPerWarp = 512;
// Rounds before the host looks how many photons are left; and how few are.
constexpr std::uint32_t kRounds = 2, kFew = 32768;
// Blocks that a multiprocessor is to hold, which bounds a thread's registers. Measured: see docs/lab_notes.md.
constexpr int kSearchBlocks = 8, kRestBlocks = 4, kPhysicsBlocks = 3;

__global__ void find_anchor(const __grid_constant__ GeometryView geometry, const __grid_constant__ Source source,
                            Anchor* anchor) {
  *anchor = anchor_of(geometry, source);
}

__global__ void locate_each(const __grid_constant__ GeometryView geometry, const __grid_constant__ Source source,
                            Containment* in, std::size_t count) {
  const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
  if (i < count) in[i] = start_in(geometry, source, source.photons[i]);
}

__device__ std::uint32_t first_of_thread() {
  return blockIdx.x * kThreads + threadIdx.x;
}
__device__ std::uint32_t stride() {
  return gridDim.x * kThreads;
}
// The first item of a thread that takes every stride()-th one. Few items are spread over all warps: the threads of a
// warp wait for each other.
__device__ std::uint32_t first_item(std::uint32_t count) {
  return count >= stride() ? first_of_thread() : (threadIdx.x & 31u) * (stride() / 32) + first_of_thread() / 32;
}

// A place in the list for each thread of a warp that wants one. All of its threads are there.
__device__ std::uint32_t append(bool wanted, std::uint32_t* count) {
  const unsigned all = __ballot_sync(0xFFFFFFFFu, wanted);
  const unsigned lane = threadIdx.x & 31u;
  std::uint32_t first = 0;
  if (lane == 0 && all != 0) first = atomicAdd(count, static_cast<std::uint32_t>(__popc(all)));
  return __shfl_sync(0xFFFFFFFFu, first, 0) + static_cast<std::uint32_t>(__popc(all & ((1u << lane) - 1u)));
}

// How many photons are born now: as many as there is room for.
__global__ void plan_births(Births* births, const std::uint32_t* waiting, std::uint32_t capacity, std::uint32_t all) {
  births->first += births->count;
  const std::uint32_t room = capacity - *waiting, left = all - births->first;
  births->count = left < room ? left : room;
}

// The physics of a step: from the boundary that each photon waits for to its next ray. kBirth: from birth to the first
// ray.
template <bool kBirth>
__global__ void __launch_bounds__(kThreads, kPhysicsBlocks)
    advance(const __grid_constant__ GeometryView geometry, const __grid_constant__ Source source, const Anchor* anchor,
            const __grid_constant__ Run run, const __grid_constant__ Flights flights, Waiting from, Waiting to,
            Outcome* outcomes) {
  const std::uint32_t count = kBirth ? flights.births->count : *from.count;
  if (!kBirth && first_of_thread() == 0) *flights.rest.count = 0;
  const Anchor at = anchor_at(anchor);
  const std::uint32_t rounds = (count + stride() - 1) / stride();
  std::uint32_t q = first_item(count);
  // By whole warps, as they append together.
  for (std::uint32_t round = 0; round != rounds; ++round, q += stride()) {
    Follower follower(geometry, source, at, run);
    std::uint32_t i = 0;
    bool flying = false;
    FineRay ray;
    if (q < count) {
      if (kBirth) {
        i = flights.births->first + q;
        follower.start(run.first + i);
      } else {
        i = from.photons[q];
        follower.resume(run.first + i, load_by_16_bytes(outcomes + i), load_by_16_bytes(from.pauses + q));
        follower.arrive(load_by_16_bytes(flights.boundaries + q));
      }
      flying = follower.ray(ray);
      store_by_16_bytes(outcomes + i, follower.outcome());
    }
    const std::uint32_t place = append(flying, to.count);
    if (flying) {
      to.photons[place] = i;
      store_by_16_bytes(to.pauses + place, follower.pause());
      store_by_16_bytes(flights.rays + place, {{ray.origin.point, 0, ray.direction, ray.tmax}, follower.in()});
    }
  }
}

// The ray of a photon that waits. kFine: with the rest of its origin.
template <bool kFine>
__device__ FineRay fine_ray_of(const WaitingRay* rays, const Pause* pauses, std::size_t i) {
  const Ray ray = load_by_16_bytes(&rays[i].ray);
  if constexpr (kFine)
    return {{ray.origin, load_by_16_bytes(pauses + i).rest}, ray.direction, ray.tmax};
  else
    return {ray.origin, ray.direction, ray.tmax};
}

// The boundaries that photons wait for. A kernel of its own: search and physics in one are more code than the
// instruction cache holds, and threads that wait for each other at both.
template <class SomeRay>
__global__ void __launch_bounds__(kThreads, kSearchBlocks)
    search_each(const __grid_constant__ GeometryView geometry, const __grid_constant__ Flights flights, Waiting waiting,
                std::uint32_t* next) {
  const std::uint32_t count = *waiting.count;
  if (first_of_thread() == 0) *next = 0;
  const std::uint32_t warps = stride() / 32, share = (count + warps - 1) / warps;
  const std::uint32_t rays = share <= 32 ? share : share < kRaysPerWarp ? (share + 31) / 32 * 32 : kRaysPerWarp;
  for (std::uint64_t first = std::uint64_t{first_of_thread() / 32} * rays; first < count;
       first += std::uint64_t{warps} * rays) {
    const auto begin = static_cast<std::uint32_t>(first);
    StackInShared<true, kThreads>::Overflow overflow;
    StackInShared<true, kThreads> stack(overflow);
    const auto kept = stack.keep(begin);
    const WaitingRay* const rays_of_all = flights.rays;
    const Pause* const pauses = waiting.pauses;
    plain_boundaries_of_warp<SomeRay>(
        geometry, count - begin < rays ? count - begin : rays,
        [=](std::uint32_t i) { return fine_ray_of<kIsFine<SomeRay>>(rays_of_all, pauses, *kept + i); },
        [=](std::uint32_t i) { return rays_of_all[*kept + i].in; }, flights.boundaries + begin,
        [=](bool more, std::uint32_t i) {
          const std::uint32_t place = append(more, flights.rest.count);
          if (more) flights.rest.rays[place] = begin + i;
        },
        stack);
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

// The last photons on their way, to their ends: too few to share work.
__global__ void __launch_bounds__(kThreads, kRestBlocks)
    finish(const __grid_constant__ GeometryView geometry, const __grid_constant__ Source source, const Anchor* anchor,
           const __grid_constant__ Run run, const __grid_constant__ Flights flights, Waiting waiting,
           Outcome* outcomes) {
  const std::uint32_t count = *waiting.count;
  const Anchor at = anchor_at(anchor);
  for (std::uint32_t q = first_item(count); q < count; q += stride()) {
    const std::uint32_t i = waiting.photons[q];
    Follower follower(geometry, source, at, run);
    follower.resume(run.first + i, outcomes[i], waiting.pauses[q]);
    FineRay ray = fine_ray_of<true>(flights.rays, waiting.pauses, q);
    do follower.arrive(next_boundary(geometry, ray, follower.in()));
    while (follower.ray(ray));
    outcomes[i] = follower.outcome();
  }
}

// For chains of calls that stop at the first one that fails.
struct FirstError {
  cudaError_t code = cudaSuccess;
  bool set(cudaError_t next) {
    code = next;
    return code != cudaSuccess;
  }
};

// Blocks of a kernel that fill the device, or fewer for less work.
template <class Kernel>
cudaError_t blocks_for(const Kernel& kernel, std::size_t count, unsigned& blocks) {
  int device = 0, multiprocessors = 0, resident = 0;
  FirstError error;
  if (error.set(cudaGetDevice(&device)) ||
      error.set(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device)) ||
      error.set(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, kThreads, 0)))
    return error.code;
  const std::size_t wanted = (count + kThreads - 1) / kThreads;
  const std::size_t most = static_cast<std::size_t>(multiprocessors) * static_cast<std::size_t>(resident);
  blocks = static_cast<unsigned>(wanted < most ? wanted : most);
  return cudaSuccess;
}

}  // namespace

int launch_anchor(const GeometryView& geometry, const Source& source, Anchor* anchor, void* stream) {
  find_anchor<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(geometry, source, anchor);
  return cudaGetLastError();
}

int launch_locate_photons(const GeometryView& geometry, const Source& source, Containment* in, std::size_t count,
                          void* stream) {
  if (count == 0) return cudaSuccess;
  const auto blocks = blocks_of(count, kThreads);
  locate_each<<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(geometry, source, in, count);
  return cudaGetLastError();
}

int launch_propagate(const GeometryView& geometry, const Source& source, const Anchor* anchor, const Run& run,
                     const Flights& flights, Outcome* outcomes, std::uint32_t count, void* stream) {
  if (count == 0) return cudaSuccess;
  const auto on = static_cast<cudaStream_t>(stream);
  const auto search = geometry.is_fine() ? search_each<FineWalkRay> : search_each<Ray>;
  const auto rest = geometry.is_fine() ? search_rest<FineWalkRay> : search_rest<Ray>;
  unsigned birth_blocks = 0, physics_blocks = 0, search_blocks = 0, rest_blocks = 0, finish_blocks = 0;
  Waiting from = flights.waiting[0], to = flights.waiting[1];
  FirstError error;
  if (error.set(blocks_for(advance<true>, count, birth_blocks)) ||
      error.set(blocks_for(advance<false>, count, physics_blocks)) ||
      error.set(blocks_for(search, count, search_blocks)) || error.set(blocks_for(rest, count, rest_blocks)) ||
      error.set(blocks_for(finish, count, finish_blocks)) ||
      error.set(cudaMemsetAsync(from.count, 0, sizeof *from.count, on)) ||
      error.set(cudaMemsetAsync(flights.rest.count, 0, sizeof *flights.rest.count, on)) ||
      error.set(cudaMemsetAsync(flights.births, 0, sizeof *flights.births, on)))
    return error.code;
  // As long as many photons are on their way, or not yet born.
  std::uint32_t born = 0;
  for (std::uint32_t left = count; born != count || left > kFew;) {
    for (std::uint32_t round = 0; round != kRounds; ++round) {
      if (born != count) {
        plan_births<<<1, 1, 0, on>>>(flights.births, from.count, flights.capacity, count);
        advance<true><<<birth_blocks, kThreads, 0, on>>>(geometry, source, anchor, run, flights, to, from, outcomes);
      }
      search<<<search_blocks, kThreads, 0, on>>>(geometry, flights, from, to.count);
      rest<<<rest_blocks, kThreads, 0, on>>>(geometry, flights, from.pauses);
      advance<false><<<physics_blocks, kThreads, 0, on>>>(geometry, source, anchor, run, flights, from, to, outcomes);
      const Waiting done = from;
      from = to;
      to = done;
    }
    Births births{};
    if (error.set(cudaMemcpyAsync(&left, from.count, sizeof left, cudaMemcpyDeviceToHost, on)) ||
        error.set(cudaMemcpyAsync(&births, flights.births, sizeof births, cudaMemcpyDeviceToHost, on)) ||
        error.set(cudaStreamSynchronize(on)))
      return error.code;
    born = births.first + births.count;
    if (born == count && left == 0) return cudaGetLastError();
  }
  finish<<<finish_blocks, kThreads, 0, on>>>(geometry, source, anchor, run, flights, from, outcomes);
  return cudaGetLastError();
}

}  // namespace raylift::photon
