// SPDX-License-Identifier: Apache-2.0
#include <raylift/gpu/rays/warp_query.h>

#include <type_traits>

#include "packet.h"
#include "rays/trace_kernel.h"

namespace raylift::inline v0_1::cuda {
namespace {

using bvh_detail::Site;

constexpr int kThreads = 128;
constexpr int kBlocks = 8;  // of a multiprocessor

// Rays of one warp, at most: enough that waiting for the last of them costs little.
constexpr std::size_t kRaysPerWarp = 512;
// Of those that try packets.
constexpr std::size_t kPacketRaysPerWarp = 256;
static_assert(kRaysPerWarp / 32 < 32);
// Stands in Hit::instance of the first ray of a group of 32 that is not traced yet. No instance has that number.
constexpr std::uint32_t kPending = 0x7FFFFFFFu;

__device__ inline const BvhView& bvh_of(const BvhView& bvh) {
  return bvh;
}
__device__ inline const BvhView& bvh_of(const GeometryView& geometry) {
  return geometry.bvh;
}
__device__ inline Hit finished(const BvhView& bvh, const Ray& ray, Site site) {
  return bvh_detail::hit_of(bvh, ray, site);
}
__device__ inline Hit finished(const GeometryView& geometry, const Ray& ray, Site site) {
  return bvh_detail::scene_hit_of(geometry, ray, site);
}
template <class Geometry>
inline constexpr bool kScene = std::is_same_v<Geometry, GeometryView>;

// Rays are traced in two steps, in groups of 32 that follow each other. First each group whose rays stay together, as a
// packet; where one does not, the rest of the warp's are not tried either. What is left becomes pending.
template <class Geometry>
__global__ void __launch_bounds__(kThreads, kBlocks)
    packet_kernel(const __grid_constant__ Geometry geometry, const Ray* __restrict__ rays, Hit* hits, std::size_t count,
                  std::size_t rays_per_warp) {
  const std::size_t first = (blockIdx.x * std::size_t{kThreads / 32} + threadIdx.x / 32) * rays_per_warp;
  bool together = true;
  for (std::size_t group = first; group < count && group < first + rays_per_warp; group += 32) {
    const std::size_t i = group + (threadIdx.x & 31u);
    if (together) {
      const BvhView& bvh = bvh_of(geometry);
      const auto ray = [&] { return i < count ? rays[i] : Ray{{0, 0, 0}, 0, {1, 1, 1}, 0}; };
      bvh_detail::Group cold[2];
      bvh_detail::Nearest<bvh_detail::Any> query(ray(), cold, {});
      together =
          bvh_detail::traverse_packet<kScene<Geometry>>(bvh, ray, i < count && !bvh_detail::has_nan(ray()), query);
      if (together && i < count) hits[i] = finished(geometry, rays[i], query.site());
    }
    if (!together && i == group) {
      Hit pending{};
      pending.instance = kPending;
      hits[i] = pending;
    }
  }
}

template <class Geometry>
__global__ void __launch_bounds__(kThreads, kBlocks)
    trace_kernel(const __grid_constant__ Geometry geometry, const Ray* __restrict__ rays, Hit* hits, std::size_t count,
                 std::size_t rays_per_warp) {
  const auto first = [=] { return (blockIdx.x * std::size_t{kThreads / 32} + threadIdx.x / 32) * rays_per_warp; };
  const auto here = [=] {
    const std::size_t left = count - first();
    return static_cast<std::uint32_t>(left < rays_per_warp ? left : rays_per_warp);
  };
  if (first() >= count) return;
  const std::uint32_t lane = threadIdx.x & 31u;
  // In memory: tracing needs the registers.
  unsigned pending =
      __ballot_sync(bvh_detail::kWholeWarp, 32 * lane < here() && hits[first() + 32 * lane].instance == kPending);
  asm volatile("" ::"l"(&pending) : "memory");
  // Groups that follow each other are traced together: mostly all, or none.
  while (pending != 0) {
    const auto begin = static_cast<std::uint32_t>(__ffs(static_cast<int>(pending))) - 1;
    const auto groups = static_cast<std::uint32_t>(__ffs(static_cast<int>(~(pending >> begin)))) - 1;
    pending &= ~(((1u << groups) - 1u) << begin);
    asm volatile("" ::"l"(&pending) : "memory");
    const std::size_t run = first() + 32 * begin;
    const std::uint32_t rest = here() - 32 * begin;
    closest_hits_of_warp(
        geometry, run, rest < 32 * groups ? rest : 32 * groups, [rays](std::size_t i) { return rays[i]; },
        [hits](std::size_t i, const Hit& hit) { hits[i] = hit; }, reinterpret_cast<Found*>(hits + run));
    asm volatile("" ::"l"(&pending) : "memory");
  }
}

template <class Geometry>
int launch(const Geometry& geometry, const Ray* rays, Hit* hits, std::size_t count, void* on) {
  if (count == 0) return cudaSuccess;
  const auto stream = static_cast<cudaStream_t>(on);
  // Few rays are spread over all of the device first.
  int device = 0, multiprocessors = 0;
  if (const cudaError_t code = cudaGetDevice(&device); code != cudaSuccess) return code;
  if (const cudaError_t code = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
      code != cudaSuccess)
    return code;
  const std::size_t warps = static_cast<std::size_t>(multiprocessors) * kBlocks * (kThreads / 32);
  const std::size_t share = (count / warps + 31) / 32 * 32;
  const std::size_t rays_per_warp = share < 32 ? 32 : share < kRaysPerWarp ? share : kRaysPerWarp;
  // A grid has up to 2^31 - 1 blocks.
  const std::size_t most = std::size_t{0x7FFFFFFF} * (kThreads / 32) * 32;
  for (std::size_t first = 0; first < count; first += most) {
    const std::size_t n = count - first < most ? count - first : most;
    const auto blocks_of = [n](std::size_t per_warp) {
      const std::size_t per_block = per_warp * (kThreads / 32);
      return static_cast<unsigned>((n + per_block - 1) / per_block);
    };
    const std::size_t in_packets = rays_per_warp < kPacketRaysPerWarp ? rays_per_warp : kPacketRaysPerWarp;
    packet_kernel<<<blocks_of(in_packets), kThreads, 0, stream>>>(geometry, rays + first, hits + first, n, in_packets);
    trace_kernel<<<blocks_of(rays_per_warp), kThreads, 0, stream>>>(geometry, rays + first, hits + first, n,
                                                                    rays_per_warp);
  }
  return cudaGetLastError();
}

}  // namespace

int launch_trace(const BvhView& bvh, const Ray* rays, Hit* hits, std::size_t count, void* stream) {
  return launch(bvh, rays, hits, count, stream);
}

int launch_trace(const GeometryView& geometry, const Ray* rays, Hit* hits, std::size_t count, void* stream) {
  // One level costs nothing for the second: the smaller kernel.
  if (geometry.bvh_levels != 2) return launch(geometry.bvh, rays, hits, count, stream);
  return launch(geometry, rays, hits, count, stream);
}

}  // namespace raylift::inline v0_1::cuda
