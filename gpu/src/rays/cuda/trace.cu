// SPDX-License-Identifier: Apache-2.0
#include "rays/trace_kernel.h"
#include "trace_steps.h"

namespace raylift::inline v0_1::cuda {
namespace {

// Each group whose rays stay together; where one's do not, the rest of the warp's are not tried either.
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
      const bool active = i < count && !bvh_detail::has_nan(ray());
      together = bvh_detail::traverse_packet<kScene<Geometry>>(bvh, ray, active, query) == bvh_detail::PacketEnd::done;
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
  for_pending_runs(blockIdx.x, hits, count, rays_per_warp, [&](std::size_t run, std::uint32_t rays_of_run) {
    closest_hits_of_warp(
        geometry, run, rays_of_run, [rays](std::size_t i) { return rays[i]; },
        [hits](std::size_t i, const Hit& hit) { hits[i] = hit; }, reinterpret_cast<Found*>(hits + run));
  });
}

template <class Geometry>
int launch(const Geometry& geometry, const Ray* rays, Hit* hits, std::size_t count, void* on) {
  if (count == 0) return cudaSuccess;
  const auto stream = static_cast<cudaStream_t>(on);
  LaunchShape shape{};
  if (const int code = launch_shape(count, shape); code != cudaSuccess) return code;
  const LaunchShape packets = shape.of_packets();
  // A grid has up to 2^31 - 1 blocks.
  const std::size_t most = std::size_t{0x7FFFFFFF} * (kThreads / 32) * 32;
  for (std::size_t first = 0; first < count; first += most) {
    const std::size_t n = count - first < most ? count - first : most;
    packet_kernel<<<packets.blocks(n), kThreads, 0, stream>>>(geometry, rays + first, hits + first, n,
                                                              packets.rays_per_warp);
    trace_kernel<<<shape.blocks(n), kThreads, 0, stream>>>(geometry, rays + first, hits + first, n,
                                                           shape.rays_per_warp);
  }
  return cudaGetLastError();
}

}  // namespace

int launch_shape(std::size_t count, LaunchShape& shape) {
  int device = 0, multiprocessors = 0;
  if (const cudaError_t code = cudaGetDevice(&device); code != cudaSuccess) return code;
  if (const cudaError_t code = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
      code != cudaSuccess)
    return code;
  const std::size_t warps = static_cast<std::size_t>(multiprocessors) * kBlocks * (kThreads / 32);
  const std::size_t share = (count / warps + 31) / 32 * 32;
  shape.rays_per_warp = share < 32 ? 32 : share < kRaysPerWarp ? share : kRaysPerWarp;
  return cudaSuccess;
}

int launch_trace(const BvhView& bvh, const Ray* rays, Hit* hits, std::size_t count, void* stream) {
  return launch(bvh, rays, hits, count, stream);
}

int launch_trace(const GeometryView& geometry, const Ray* rays, Hit* hits, std::size_t count, void* stream) {
  // One level costs nothing for the second: the smaller kernel.
  if (geometry.bvh_levels != 2) return launch(geometry.bvh, rays, hits, count, stream);
  return launch(geometry, rays, hits, count, stream);
}

}  // namespace raylift::inline v0_1::cuda
