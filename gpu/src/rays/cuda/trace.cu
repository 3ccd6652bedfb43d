// SPDX-License-Identifier: Apache-2.0
#include <raylift/gpu/rays/warp_query.h>

#include "rays/trace_kernel.h"

namespace raylift::inline v0_1::cuda {
namespace {

constexpr int kThreads = 128;

// Rays of one warp, at most: enough that waiting for the last of them costs little.
constexpr std::size_t kRaysPerWarp = 512;

template <class Geometry>
__global__ void __launch_bounds__(kThreads, 8)
    trace_kernel(const __grid_constant__ Geometry geometry, const Ray* __restrict__ rays, Hit* hits, std::size_t count,
                 std::size_t rays_per_warp) {
  const std::size_t first = (blockIdx.x * std::size_t{kThreads / 32} + threadIdx.x / 32) * rays_per_warp;
  if (first >= count) return;
  const auto here = static_cast<std::uint32_t>(count - first < rays_per_warp ? count - first : rays_per_warp);
  closest_hits_of_warp(
      geometry, first, here, [rays](std::size_t i) { return rays[i]; },
      [hits](std::size_t i, const Hit& hit) { hits[i] = hit; }, reinterpret_cast<Found*>(hits + first));
}

template <class Geometry>
int launch(const Geometry& geometry, const Ray* rays, Hit* hits, std::size_t count, void* stream) {
  if (count == 0) return cudaSuccess;
  // Few rays are spread over all of the device first.
  int device = 0, multiprocessors = 0;
  if (const cudaError_t code = cudaGetDevice(&device); code != cudaSuccess) return code;
  if (const cudaError_t code = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
      code != cudaSuccess)
    return code;
  const std::size_t warps = static_cast<std::size_t>(multiprocessors) * 8 * (kThreads / 32);
  const std::size_t share = (count / warps + 31) / 32 * 32;
  const std::size_t rays_per_warp = share < 32 ? 32 : share < kRaysPerWarp ? share : kRaysPerWarp;
  const std::size_t rays_per_block = rays_per_warp * (kThreads / 32);
  // A grid has up to 2^31 - 1 blocks.
  const std::size_t most = std::size_t{0x7FFFFFFF} * rays_per_block;
  for (std::size_t first = 0; first < count; first += most) {
    const std::size_t n = count - first < most ? count - first : most;
    const auto blocks = static_cast<unsigned>((n + rays_per_block - 1) / rays_per_block);
    trace_kernel<<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(geometry, rays + first, hits + first, n,
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
