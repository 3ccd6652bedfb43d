// SPDX-License-Identifier: Apache-2.0
#include "exact_rays_kernels.h"

namespace raylift::bench {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kBlocks = 132 * 16;

__device__ std::size_t first_of_thread() {
  return blockIdx.x * std::size_t{kThreads} + threadIdx.x;
}
__device__ std::size_t stride() {
  return std::size_t{gridDim.x} * kThreads;
}

__global__ void make(ExactShape shape, Ray* rays, std::uint64_t first, std::size_t count) {
  for (std::size_t i = first_of_thread(); i < count; i += stride()) rays[i] = exact::make_ray(shape, first + i);
}

__global__ void by_thread(GeometryView geometry, const Ray* rays, Hit* hits, std::size_t count) {
  for (std::size_t i = first_of_thread(); i < count; i += stride()) hits[i] = closest_hit(geometry, rays[i]);
}

__global__ void tally(ExactShape shape, const Ray* rays, const Hit* hits, std::size_t count, std::size_t check,
                      ExactCounts* counts) {
  ExactCounts own{};
  for (std::size_t i = first_of_thread(); i < count; i += stride())
    exact::add_hit(shape, rays[i], hits[i], i < check, own);
  atomicAdd(&counts->rays, own.rays);
  if (own.lost != 0) atomicAdd(&counts->lost, own.lost);
  if (own.wrong_side != 0) atomicAdd(&counts->wrong_side, own.wrong_side);
  if (own.checked == 0) return;
  atomicAdd(&counts->checked, own.checked);
  if (own.undecided != 0) atomicAdd(&counts->undecided, own.undecided);
  if (own.differ != 0) atomicAdd(&counts->differ, own.differ);
  atomicMax(&counts->worst_t, own.worst_t);
}

}  // namespace

// A launch that fails shows as an error of the next call on the stream.
void launch_exact_rays(const ExactShape& shape, Ray* rays, std::uint64_t first, std::size_t count, void* stream) {
  make<<<kBlocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(shape, rays, first, count);
}

void launch_by_thread(const GeometryView& geometry, const Ray* rays, Hit* hits, std::size_t count, void* stream) {
  by_thread<<<kBlocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(geometry, rays, hits, count);
}

void launch_count_exact(const ExactShape& shape, const Ray* rays, const Hit* hits, std::size_t count, std::size_t check,
                        ExactCounts* counts, void* stream) {
  tally<<<kBlocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(shape, rays, hits, count, check, counts);
}

}  // namespace raylift::bench
