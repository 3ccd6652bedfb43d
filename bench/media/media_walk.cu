// SPDX-License-Identifier: Apache-2.0
#include "media_walk_kernels.h"

namespace raylift::bench {
namespace {

constexpr unsigned kThreads = 128;
constexpr unsigned kBlocks = 132 * 32;

__device__ std::size_t first_of_thread() {
  return blockIdx.x * std::size_t{kThreads} + threadIdx.x;
}
__device__ std::size_t stride() {
  return std::size_t{gridDim.x} * kThreads;
}

__device__ void add(unsigned long long* sum, unsigned long long value) {
  if (value != 0) atomicAdd(sum, value);
}

__global__ void __launch_bounds__(kThreads, 2) walk_all(const __grid_constant__ WalkTask task, std::uint64_t first,
                                                        std::size_t photons, std::uint32_t steps, WalkCounts* counts) {
  WalkCounts own{};
  for (std::size_t i = first_of_thread(); i < photons; i += stride()) media::walk(task, first + i, steps, own);
  add(&counts->steps, own.steps);
  add(&counts->boundaries, own.boundaries);
  add(&counts->reflections, own.reflections);
  add(&counts->ended, own.ended);
  add(&counts->checked, own.checked);
  add(&counts->skipped, own.skipped);
  add(&counts->wrong, own.wrong);
  add(&counts->inconsistent, own.inconsistent);
  add(&counts->mismatched, own.mismatched);
  add(&counts->lost, own.lost);
  add(&counts->stuck, own.stuck);
  // 0 stands for none: as the largest number it loses.
  if (own.first_bad != 0) {
    unsigned long long seen = atomicAdd(&counts->first_bad, 0ull);
    while (seen == 0 || own.first_bad < seen) {
      const unsigned long long before = atomicCAS(&counts->first_bad, seen, own.first_bad);
      if (before == seen) break;
      seen = before;
    }
  }
}

__global__ void make_rays(WalkTask task, Ray* rays, Containment* in, std::size_t count) {
  for (std::size_t i = first_of_thread(); i < count; i += stride()) media::make_rate_ray(task, i, rays[i], in[i]);
}

// kResident: blocks that a multiprocessor is to hold, which bounds a thread's registers.
template <int kResident>
__global__ void __launch_bounds__(kThreads, kResident)
    closest(const __grid_constant__ GeometryView geometry, const Ray* rays, RateResult* results, std::size_t count) {
  for (std::size_t i = first_of_thread(); i < count; i += stride()) results[i] = media::closest_of(geometry, rays[i]);
}

template <int kResident>
__global__ void __launch_bounds__(kThreads, kResident)
    boundary(const __grid_constant__ GeometryView geometry, const Ray* rays, const Containment* in, RateResult* results,
             std::size_t count) {
  for (std::size_t i = first_of_thread(); i < count; i += stride())
    results[i] = media::boundary_of(geometry, rays[i], in[i]);
}

}  // namespace

// A thread for each ray.
static unsigned blocks_for(std::size_t count) {
  return static_cast<unsigned>((count + kThreads - 1) / kThreads);
}

// A launch that fails shows as an error of the next call on the stream.
void launch_walk(const WalkTask& task, std::uint64_t first, std::size_t photons, std::uint32_t steps,
                 WalkCounts* counts, void* stream) {
  walk_all<<<kBlocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(task, first, photons, steps, counts);
}
void launch_rate_rays(const WalkTask& task, Ray* rays, Containment* in, std::size_t count, void* stream) {
  make_rays<<<kBlocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(task, rays, in, count);
}
void launch_rate_closest(const GeometryView& geometry, const Ray* rays, RateResult* results, std::size_t count,
                         int resident, void* stream) {
  const auto kernel = resident == 2 ? closest<2> : resident == 4 ? closest<4> : resident == 6 ? closest<6> : closest<8>;
  kernel<<<blocks_for(count), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(geometry, rays, results, count);
}
void launch_rate_boundary(const GeometryView& geometry, const Ray* rays, const Containment* in, RateResult* results,
                          std::size_t count, int resident, void* stream) {
  const auto kernel = resident == 2   ? boundary<2>
                      : resident == 4 ? boundary<4>
                      : resident == 6 ? boundary<6>
                                      : boundary<8>;
  kernel<<<blocks_for(count), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(geometry, rays, in, results, count);
}

}  // namespace raylift::bench
