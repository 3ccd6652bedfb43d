// SPDX-License-Identifier: Apache-2.0
#include "../trace_kernel.h"

namespace raylift::cuda {
namespace {

constexpr int kThreads = 128;

template <class Geometry>
__global__ void __launch_bounds__(kThreads, 8)
    trace_kernel(Geometry geometry, const Ray* __restrict__ rays, Hit* __restrict__ hits, std::size_t count) {
  const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
  if (i < count) hits[i] = closest_hit(geometry, rays[i]);
}

template <class Geometry>
int launch(const Geometry& geometry, const Ray* rays, Hit* hits, std::size_t count, void* stream) {
  // A grid has up to 2^31 - 1 blocks.
  constexpr std::size_t kMost = std::size_t{0x7FFFFFFF} * kThreads;
  for (std::size_t first = 0; first < count; first += kMost) {
    const std::size_t n = count - first < kMost ? count - first : kMost;
    const auto blocks = static_cast<unsigned>((n + kThreads - 1) / kThreads);
    trace_kernel<<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(geometry, rays + first, hits + first, n);
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

}  // namespace raylift::cuda
