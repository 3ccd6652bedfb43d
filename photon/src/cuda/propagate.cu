// SPDX-License-Identifier: Apache-2.0
#include <raylift/gpu/rays/warp_boundary.h>

#include "blocks.h"
#include "propagate_kernel.h"

namespace raylift::photon {
namespace {

constexpr unsigned kThreads = 128;
// Rays of one warp, at most: enough that waiting for the last of them costs little.
constexpr std::uint32_t kRaysPerWarp = 512;
// Rounds before the host looks how many photons are left, at first; and how few are.
constexpr std::uint32_t kRounds = 16, kFew = 4096;
// Blocks that a multiprocessor is to hold, which bounds a thread's registers. Measured: see docs/performance.md.
constexpr int kSearchBlocks = 4, kPhysicsBlocks = 8;

__global__ void find_anchor(const __grid_constant__ GeometryView geometry, const __grid_constant__ Source source,
                            Anchor* anchor) {
  *anchor = anchor_of(geometry, source);
}

__global__ void locate_each(const __grid_constant__ GeometryView geometry, const StartPhoton* photons, Containment* in,
                            std::size_t count) {
  const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
  if (i < count) in[i] = locate(geometry, photons[i].position);
}

__device__ std::uint32_t first_of_thread() {
  return blockIdx.x * kThreads + threadIdx.x;
}
__device__ std::uint32_t stride() {
  return gridDim.x * kThreads;
}

// Rays by 16 bytes at a time.
__device__ Ray load_ray(const Ray* ray) {
  const float4 a = reinterpret_cast<const float4*>(ray)[0], b = reinterpret_cast<const float4*>(ray)[1];
  return {{a.x, a.y, a.z}, a.w, {b.x, b.y, b.z}, b.w};
}
__device__ void store_ray(Ray* place, const Ray& ray) {
  reinterpret_cast<float4*>(place)[0] = {ray.origin.x, ray.origin.y, ray.origin.z, ray.tmin};
  reinterpret_cast<float4*>(place)[1] = {ray.direction.x, ray.direction.y, ray.direction.z, ray.tmax};
}

// A place in the list for each thread of a warp that wants one. All of its threads are there.
__device__ std::uint32_t append(bool wanted, std::uint32_t* count) {
  const unsigned all = __ballot_sync(0xFFFFFFFFu, wanted);
  const unsigned lane = threadIdx.x & 31u;
  std::uint32_t first = 0;
  if (lane == 0 && all != 0) first = atomicAdd(count, static_cast<std::uint32_t>(__popc(all)));
  return __shfl_sync(0xFFFFFFFFu, first, 0) + static_cast<std::uint32_t>(__popc(all & ((1u << lane) - 1u)));
}

// The physics of a step: from the boundary that each photon waits for to its next ray. kBirth: all photons, from their
// birth to their first ray.
template <bool kBirth>
__global__ void __launch_bounds__(kThreads, kPhysicsBlocks)
    advance(const __grid_constant__ GeometryView geometry, const __grid_constant__ Source source, const Anchor* anchor,
            const __grid_constant__ Run run, const __grid_constant__ Flights flights, Waiting from, Waiting to,
            Outcome* outcomes, std::uint32_t births) {
  const std::uint32_t count = kBirth ? births : *from.count;
  const Anchor at = anchor_at(anchor);
  // By whole warps, as they append together.
  for (std::uint32_t q = first_of_thread(); q < (count + 31) / 32 * 32; q += stride()) {
    std::uint32_t i = 0;
    bool flying = false;
    Ray ray;
    if (q < count) {
      Follower follower(geometry, source, at, run);
      if (kBirth) {
        i = q;
        follower.start(run.first + i);
      } else {
        i = from.photons[q];
        follower.resume(run.first + i, outcomes[i], flights.pauses[i]);
        follower.arrive(flights.boundaries[q]);
      }
      flying = follower.ray(ray);
      outcomes[i] = follower.outcome();
      if (flying) flights.pauses[i] = follower.pause();
    }
    const std::uint32_t place = append(flying, to.count);
    if (flying) {
      to.photons[place] = i;
      store_ray(flights.rays + place, ray);
    }
  }
}

// The boundaries that photons wait for. A kernel of its own: search and physics in one are more code than the
// instruction cache holds, and threads that wait for each other at both.
__global__ void __launch_bounds__(kThreads, kSearchBlocks)
    search(const __grid_constant__ GeometryView geometry, const __grid_constant__ Flights flights, Waiting waiting,
           Waiting next, const Outcome* outcomes) {
  const std::uint32_t count = *waiting.count;
  if (first_of_thread() == 0) *next.count = 0;
  const std::uint32_t warps = stride() / 32, share = (count / warps + 31) / 32 * 32;
  const std::uint32_t rays = share < 32 ? 32 : share < kRaysPerWarp ? share : kRaysPerWarp;
  for (std::uint64_t first = std::uint64_t{first_of_thread() / 32} * rays; first < count;
       first += std::uint64_t{warps} * rays) {
    const auto begin = static_cast<std::uint32_t>(first);
    const Ray* const here = flights.rays + begin;
    const std::uint32_t* const photons = waiting.photons + begin;
    boundaries_of_warp(
        geometry, count - begin < rays ? count - begin : rays, [=](std::uint32_t i) { return load_ray(here + i); },
        [=](std::uint32_t i) { return outcomes[photons[i]].photon.in; }, flights.boundaries + begin);
  }
}

// The last photons on their way, to their ends: too few to share work.
__global__ void __launch_bounds__(kThreads, 4)
    finish(const __grid_constant__ GeometryView geometry, const __grid_constant__ Source source, const Anchor* anchor,
           const __grid_constant__ Run run, const __grid_constant__ Flights flights, Waiting waiting,
           Outcome* outcomes) {
  const std::uint32_t count = *waiting.count;
  const Anchor at = anchor_at(anchor);
  for (std::uint32_t q = first_of_thread(); q < count; q += stride()) {
    const std::uint32_t i = waiting.photons[q];
    Follower follower(geometry, source, at, run);
    follower.resume(run.first + i, outcomes[i], flights.pauses[i]);
    Ray ray = load_ray(flights.rays + q);
    do follower.arrive(next_boundary(geometry, ray, follower.in()));
    while (follower.ray(ray));
    outcomes[i] = follower.outcome();
  }
}

// Blocks of a kernel that fill the device, or fewer for less work.
template <class Kernel>
cudaError_t blocks_for(const Kernel& kernel, std::size_t count, unsigned& blocks) {
  int device = 0, multiprocessors = 0, resident = 0;
  if (const cudaError_t code = cudaGetDevice(&device); code != cudaSuccess) return code;
  if (const cudaError_t code = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
      code != cudaSuccess)
    return code;
  if (const cudaError_t code = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, kThreads, 0);
      code != cudaSuccess)
    return code;
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

int launch_locate_photons(const GeometryView& geometry, const StartPhoton* photons, Containment* in, std::size_t count,
                          void* stream) {
  if (count == 0) return cudaSuccess;
  const auto blocks = blocks_of(count, kThreads);
  locate_each<<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(geometry, photons, in, count);
  return cudaGetLastError();
}

int launch_propagate(const GeometryView& geometry, const Source& source, const Anchor* anchor, const Run& run,
                     const Flights& flights, Outcome* outcomes, std::uint32_t count, void* stream) {
  if (count == 0) return cudaSuccess;
  const auto on = static_cast<cudaStream_t>(stream);
  unsigned birth_blocks = 0, physics_blocks = 0, search_blocks = 0, finish_blocks = 0;
  if (const cudaError_t code = blocks_for(advance<true>, count, birth_blocks); code != cudaSuccess) return code;
  if (const cudaError_t code = blocks_for(advance<false>, count, physics_blocks); code != cudaSuccess) return code;
  if (const cudaError_t code = blocks_for(search, count, search_blocks); code != cudaSuccess) return code;
  if (const cudaError_t code = blocks_for(finish, count, finish_blocks); code != cudaSuccess) return code;
  Waiting from = flights.waiting[0], to = flights.waiting[1];
  if (const cudaError_t code = cudaMemsetAsync(from.count, 0, sizeof *from.count, on); code != cudaSuccess) return code;
  advance<true><<<birth_blocks, kThreads, 0, on>>>(geometry, source, anchor, run, flights, to, from, outcomes, count);
  // As long as many photons are on their way.
  for (std::uint32_t rounds = kRounds, left = count; left > kFew; rounds *= 2) {
    for (std::uint32_t round = 0; round != rounds; ++round) {
      search<<<search_blocks, kThreads, 0, on>>>(geometry, flights, from, to, outcomes);
      advance<false>
          <<<physics_blocks, kThreads, 0, on>>>(geometry, source, anchor, run, flights, from, to, outcomes, 0);
      const Waiting done = from;
      from = to;
      to = done;
    }
    if (const cudaError_t code = cudaMemcpyAsync(&left, from.count, sizeof left, cudaMemcpyDeviceToHost, on);
        code != cudaSuccess)
      return code;
    if (const cudaError_t code = cudaStreamSynchronize(on); code != cudaSuccess) return code;
    if (left == 0) return cudaGetLastError();
  }
  finish<<<finish_blocks, kThreads, 0, on>>>(geometry, source, anchor, run, flights, from, outcomes);
  return cudaGetLastError();
}

}  // namespace raylift::photon
