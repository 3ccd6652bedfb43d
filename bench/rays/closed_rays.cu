// SPDX-License-Identifier: Apache-2.0
#include "closed_rays_kernels.h"
#include "random_ray.h"

namespace raylift::bench {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kBlocks = 132 * 16;

__global__ void make(Ray* rays, std::uint64_t first, std::size_t count, double radius) {
  for (std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * kThreads)
    rays[i] = random_ray(first + i, radius);
}

__global__ void tally(const Hit* hits, std::size_t count, HitCounts* counts) {
  unsigned long long missed = 0, from_outside = 0;
  for (std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * kThreads) {
    const Hit hit = hits[i];
    if (!hit.valid())
      ++missed;
    else if (hit.from_inside == 0)
      ++from_outside;
  }
  if (missed != 0) atomicAdd(&counts->missed, missed);
  if (from_outside != 0) atomicAdd(&counts->from_outside, from_outside);
}

}  // namespace

// A launch that fails shows as an error of the next call on the stream.
void launch_random_rays(Ray* rays, std::uint64_t first, std::size_t count, double radius, void* stream) {
  make<<<kBlocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(rays, first, count, radius);
}

void launch_count_hits(const Hit* hits, std::size_t count, HitCounts* counts, void* stream) {
  tally<<<kBlocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(hits, count, counts);
}

}  // namespace raylift::bench
