// SPDX-License-Identifier: Apache-2.0
// The box of all vertices, and whether one is out of bounds.
#include "bvh_phases.h"

namespace raylift::inline v0_1::cuda {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kVerticesEach = 8;

__global__ void __launch_bounds__(kThreads)
    bound(const Float3* __restrict__ vertices, std::uint32_t count, VertexBounds* bounds) {
  __shared__ std::uint32_t of_block[6];
  if (threadIdx.x < 6) of_block[threadIdx.x] = 0;
  __syncthreads();
  std::uint32_t farthest[6] = {};
  bool good = true;
  const std::uint32_t first = blockIdx.x * (kThreads * kVerticesEach) + threadIdx.x;
#pragma unroll
  for (unsigned k = 0; k < kVerticesEach; ++k)
    if (const std::uint32_t i = first + k * kThreads; i < count) {
      const Float3 v = vertices[i];
      const float at[3] = {v.x, v.y, v.z};
#pragma unroll
      for (int a = 0; a < 3; ++a) {
        good = good && fabsf(at[a]) <= kBvhFarthest;
        farthest[a] = max(farthest[a], ordered(at[a]));
        farthest[3 + a] = max(farthest[3 + a], ordered(-at[a]));
      }
    }
#pragma unroll
  for (int k = 0; k < 6; ++k) {
    farthest[k] = __reduce_max_sync(kAll, farthest[k]);
    if (threadIdx.x % 32 == 0) atomicMax(&of_block[k], farthest[k]);
  }
  const bool all_good = __syncthreads_and(good) != 0;
  if (threadIdx.x < 6) atomicMax(&bounds->farthest[threadIdx.x], of_block[threadIdx.x]);
  if (threadIdx.x == 0 && !all_good) atomicOr(&bounds->bad, 1u);
}

}  // namespace

void bound_vertices(const Build& build) {
  const std::size_t each = kThreads * kVerticesEach, blocks = (build.input.vertex_count + each - 1) / each;
  bound<<<static_cast<unsigned>(blocks), kThreads, 0, build.stream>>>(build.input.vertices, build.input.vertex_count,
                                                                      &build.state->bounds);
}

}  // namespace raylift::inline v0_1::cuda
