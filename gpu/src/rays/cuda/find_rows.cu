// SPDX-License-Identifier: Apache-2.0
#include "find_rows.h"

#include "rays/image_rows.h"

namespace raylift::cuda {
namespace {

constexpr unsigned kWhole = 0xFFFFFFFFu;
constexpr std::uint32_t kThreads = 1024, kSamples = 256;

// A block that looks at rays together: see find_width(). All of its threads get the same answers.
class Block {
 public:
  [[nodiscard]] __device__ std::uint32_t size() const { return kSamples; }

  template <class Is>
  __device__ std::uint32_t count(std::uint32_t n, const Is& is) const {
    return static_cast<std::uint32_t>(__syncthreads_count(threadIdx.x < n && is(threadIdx.x)));
  }
  // Some at a time, as the first is mostly near; each thread has several in flight.
  template <class Is>
  __device__ std::uint32_t first(std::uint32_t n, const Is& is) const {
    constexpr std::uint32_t kAtOnce = 4;
    for (std::uint32_t begin = 0; begin < n; begin += kAtOnce * kThreads) {
      bool found[kAtOnce];
#pragma unroll
      for (std::uint32_t k = 0; k != kAtOnce; ++k) {
        const std::uint32_t i = begin + k * kThreads + threadIdx.x;
        found[k] = i < n && is(i);
      }
#pragma unroll
      for (std::uint32_t k = 0; k != kAtOnce; ++k)
        if (__syncthreads_or(found[k]))
          return least_of_all(found[k] ? begin + k * kThreads + threadIdx.x : rows::kNone);
    }
    return rows::kNone;
  }
  template <class Value>
  __device__ std::uint32_t least(std::uint32_t n, const Value& value) const {
    return least_of_all(threadIdx.x < n ? value(threadIdx.x) : rows::kNone);
  }
  template <class Of>
  __device__ rows::Sums sum(std::uint32_t n, const Of& of) const {
    __shared__ rows::Sums parts[kSamples / 32];
    if (threadIdx.x < kSamples) {
      rows::Sums mine;
      if (threadIdx.x < n) mine = of(threadIdx.x);
      mine = sum_of_lanes(mine, 32);
      if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = mine;
    }
    __syncthreads();
    return sum_of_lanes(parts[threadIdx.x % (kSamples / 32)], kSamples / 32);
  }

 private:
  __device__ static rows::Sums sum_of_lanes(rows::Sums sums, int lanes) {
    for (int distance = 1; distance != lanes; distance *= 2)
      sums = {sums.tile_direction + __shfl_xor_sync(kWhole, sums.tile_direction, distance),
              sums.tile_origin + __shfl_xor_sync(kWhole, sums.tile_origin, distance),
              sums.line_direction + __shfl_xor_sync(kWhole, sums.line_direction, distance),
              sums.line_origin + __shfl_xor_sync(kWhole, sums.line_origin, distance)};
    return sums;
  }
  __device__ static std::uint32_t least_of_all(std::uint32_t value) {
    __shared__ std::uint32_t least;
    if (threadIdx.x == 0) least = rows::kNone;
    __syncthreads();
    if (value != rows::kNone) atomicMin(&least, value);
    __syncthreads();
    value = least;
    __syncthreads();
    return value;
  }
};

__global__ void __launch_bounds__(kThreads)
    find_kernel(const Ray* __restrict__ rays, std::size_t count, RowsNote* note) {
  const Block block;
  const bool no_packets = rows::none_together(rays, count, block);
  const std::uint32_t width = no_packets ? 0 : rows::find_width(rays, count, block);
  if (threadIdx.x == 0) *note = {width, no_packets ? 1u : 0u, no_packets ? 1u : 0u};
}

}  // namespace

int launch_find_rows(const Ray* rays, std::size_t count, RowsNote* note, void* stream) {
  find_kernel<<<1, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(rays, count, note);
  return cudaGetLastError();
}

}  // namespace raylift::cuda
