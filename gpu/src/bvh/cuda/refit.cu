// SPDX-License-Identifier: Apache-2.0
#include "bvh/refit_kernels.h"

#include <cub/block/block_reduce.cuh>

namespace raylift::cuda {
namespace {

constexpr unsigned kThreads = 128;
constexpr int kLevelThreads = 1024;

__global__ void __launch_bounds__(kThreads)
    check_vertices(const Float3* vertices, std::size_t count, std::uint32_t* bad) {
  const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
  if (i < count && !detail::is_in_range(vertices[i])) *bad = 1;
}

__global__ void __launch_bounds__(kThreads) put_vertices(const Float3* from, std::size_t count, Float3* to) {
  const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
  if (i < count) to[i] = from[i];
}

// One block: a tree has few levels, and they are found once.
__global__ void __launch_bounds__(kLevelThreads)
    find_levels(const bvh_detail::BvhNode* nodes, std::uint32_t root, detail::NodeLevel* levels) {
  using Sum = cub::BlockReduce<std::uint32_t, kLevelThreads>;
  __shared__ Sum::TempStorage storage;
  __shared__ std::uint32_t first_child, children;
  detail::NodeLevel level{root, root + 1, 0};
  for (int l = 0; l < kBvhMaxDepth; ++l) {
    if (threadIdx.x == 0) {
      levels[l] = level;
      first_child = kNone;
    }
    __syncthreads();
    std::uint32_t sum = 0;
    for (std::uint32_t i = level.begin + threadIdx.x; i < level.end; i += kLevelThreads) {
      const auto inner = static_cast<std::uint32_t>(__popc(nodes[i].inner));
      sum += inner;
      if (inner != 0) atomicMin(&first_child, nodes[i].first_child);
    }
    sum = Sum(storage).Sum(sum);
    if (threadIdx.x == 0) children = sum;
    __syncthreads();
    level = {first_child, first_child + children, level.before + (level.end - level.begin)};
    if (children == 0) level.begin = level.end = 0;
    __syncthreads();
  }
}

__global__ void __launch_bounds__(kThreads)
    refit_level(detail::RefitInput input, detail::NodeLevel level, detail::NodeLevel below) {
  const std::uint32_t i = level.begin + blockIdx.x * kThreads + threadIdx.x;
  if (i < level.end) detail::refit_node(input, i, level, below);
}

unsigned blocks_for(std::size_t count) {
  return static_cast<unsigned>((count + kThreads - 1) / kThreads);
}

}  // namespace

int launch_check_vertices(const Float3* vertices, std::size_t count, std::uint32_t* bad, void* stream) {
  check_vertices<<<blocks_for(count), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(vertices, count, bad);
  return cudaGetLastError();
}

int launch_put_vertices(const Float3* from, std::size_t count, Float3* to, void* stream) {
  put_vertices<<<blocks_for(count), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(from, count, to);
  return cudaGetLastError();
}

int launch_find_levels(const bvh_detail::BvhNode* nodes, std::uint32_t root, detail::NodeLevel* levels, void* stream) {
  find_levels<<<1, kLevelThreads, 0, static_cast<cudaStream_t>(stream)>>>(nodes, root, levels);
  return cudaGetLastError();
}

int launch_refit_level(const detail::RefitInput& input, const detail::NodeLevel& level, const detail::NodeLevel& below,
                       void* stream) {
  refit_level<<<blocks_for(level.end - level.begin), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(input, level,
                                                                                                       below);
  return cudaGetLastError();
}

}  // namespace raylift::cuda
