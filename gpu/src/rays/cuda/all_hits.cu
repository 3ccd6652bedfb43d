// SPDX-License-Identifier: Apache-2.0
#include "rays/trace_kernel.h"

namespace raylift::cuda {
namespace {

constexpr unsigned kThreads = 128;

__global__ void count_kernel(const __grid_constant__ GeometryView geometry, const Ray* rays, std::uint32_t* numbers,
                             std::size_t count) {
  const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) numbers[i] = count_hits(geometry, rays[i]);
}

__global__ void list_kernel(const __grid_constant__ GeometryView geometry, const Ray* rays, const std::uint64_t* ends,
                            Hit* hits, std::size_t count) {
  const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) write_all_hits(geometry, rays[i], ends, hits, i);
}

// More rays than a launch can have blocks for don't fit into any device's memory.
unsigned blocks(std::size_t count) {
  return static_cast<unsigned>((count + kThreads - 1) / kThreads);
}

}  // namespace

int launch_count_hits(const GeometryView& geometry, const Ray* rays, std::uint32_t* numbers, std::size_t count,
                      void* stream) {
  if (count == 0) return cudaSuccess;
  count_kernel<<<blocks(count), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(geometry, rays, numbers, count);
  return cudaGetLastError();
}

int launch_all_hits(const GeometryView& geometry, const Ray* rays, const std::uint64_t* ends, Hit* hits,
                    std::size_t count, void* stream) {
  if (count == 0) return cudaSuccess;
  list_kernel<<<blocks(count), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(geometry, rays, ends, hits, count);
  return cudaGetLastError();
}

}  // namespace raylift::cuda
