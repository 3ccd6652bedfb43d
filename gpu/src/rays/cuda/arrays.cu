// SPDX-License-Identifier: Apache-2.0
#include "rays/arrays_kernel.h"

namespace raylift::cuda {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::size_t kMaxBlocks = 0x7FFFFFFF;

__global__ void pack_kernel(const __grid_constant__ RayArrays arrays, Ray* rays, std::size_t count) {
  const std::size_t stride = std::size_t{gridDim.x} * kThreads;
  for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += stride)
    rays[i] = arrays.ray(i);
}

__global__ void unpack_kernel(const __grid_constant__ GeometryView geometry, const Hit* hits,
                              const __grid_constant__ HitArrays arrays, std::size_t count) {
  const std::size_t stride = std::size_t{gridDim.x} * kThreads;
  for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += stride)
    arrays.set(geometry, hits[i], i);
}

unsigned blocks(std::size_t count) {
  const std::size_t wanted = (count + kThreads - 1) / kThreads;
  return static_cast<unsigned>(wanted < kMaxBlocks ? wanted : kMaxBlocks);
}

}  // namespace

int launch_pack_rays(const RayArrays& arrays, Ray* rays, std::size_t count, void* stream) {
  if (count == 0) return cudaSuccess;
  pack_kernel<<<blocks(count), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(arrays, rays, count);
  return cudaGetLastError();
}

int launch_unpack_hits(const GeometryView& geometry, const Hit* hits, const HitArrays& arrays, std::size_t count,
                       void* stream) {
  if (count == 0) return cudaSuccess;
  unpack_kernel<<<blocks(count), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(geometry, hits, arrays, count);
  return cudaGetLastError();
}

}  // namespace raylift::cuda
