// SPDX-License-Identifier: Apache-2.0
// Wide nodes as rays read them: children's boxes on the grid of their parent's. Eight lanes write a node, one for each
// slot.
#include "bvh_phases.h"

namespace raylift::inline v0_1::cuda {
namespace {

constexpr int kThreads = 256;

// The smallest power of two whose 255 steps span [lower, upper], as a biased exponent; rounded towards the larger.
__device__ std::uint32_t grid_exponent(float lower, float upper) {
  const float step = __fdiv_ru(__fsub_ru(upper, lower), 255.0f);
  const std::uint32_t bits = __float_as_uint(step);
  const std::uint32_t exponent = (bits >> 23) + ((bits & 0x7FFFFFu) != 0 ? 1u : 0u);
  return exponent < 1u ? 1u : exponent;
}

// One plane on that grid. A difference is rounded outwards; then it is multiplied by a power of two.
__device__ std::uint8_t plane(float steps) {
  return static_cast<std::uint8_t>(fminf(fmaxf(steps, 0.0f), 255.0f));
}

// Of eight lanes, those for which it holds: bit 4s for lane s.
__device__ std::uint32_t ballot_of_node(bool holds) {
  std::uint32_t bits = __ballot_sync(kAll, holds) >> (threadIdx.x % 32 & ~7u) & 0xFFu;
  bits = (bits | bits << 12) & 0x000F000Fu;
  bits = (bits | bits << 6) & 0x03030303u;
  return (bits | bits << 3) & 0x11111111u;
}

__global__ void __launch_bounds__(kThreads)
    write_nodes(Tree tree, WideNodes wide, const BuildState* state, BvhNode* nodes) {
  __shared__ BvhNode staged[kThreads / kSlots];
  const std::uint32_t i = (blockIdx.x * kThreads + threadIdx.x) / kSlots;
  const unsigned lane = threadIdx.x % kSlots;
  const std::uint32_t count = state->levels > kBvhMaxDepth ? 0 : state->level_ends[state->levels - 1];
  const bool active = i < count;
  const std::uint32_t value = active ? wide.slots[i].of[lane] : kNone;
  const bool used = value != kNone;
  const std::uint32_t pairs = used ? (value >> 30) + 1 : 0;
  const bool inner = pairs > tree.leaf_pairs, leaf = used && !inner;
  const std::uint32_t inner_bits = ballot_of_node(inner), ones = ballot_of_node(leaf),
                      twos = ballot_of_node(leaf && pairs == 2);
  if (!active) return;
  const Cluster whole = tree.at(wide.roots[i]);
  const Totals first = wide.first[i];
  BvhNode& node = staged[threadIdx.x / kSlots];
  Cluster child{};
  if (used) child = tree.at(value & kNumber);
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    const std::uint32_t exponent = grid_exponent(whole.lower[a], whole.upper[a]);
    const float steps = __uint_as_float((254 - exponent) << 23);  // in one unit of length
    node.lower[a][lane] = used ? plane(floorf(__fsub_rd(child.lower[a], whole.lower[a]) * steps)) : 255;
    node.upper[a][lane] = used ? plane(ceilf(__fsub_ru(child.upper[a], whole.lower[a]) * steps)) : 0;
    if (lane == 0) {
      node.origin[a] = whole.lower[a];
      node.exponent[a] = static_cast<std::uint8_t>(exponent);
    }
  }
  if (lane == 0) {
    node.spare = 0;
    node.first_child = first.inner;
    node.first_pair = first.pairs;
    node.pairs = ones | twos << 1;
    node.inner = inner_bits;
  }
  __syncwarp(0xFFu << (threadIdx.x % 32 & ~7u));
  if (lane < sizeof(BvhNode) / sizeof(uint4))
    reinterpret_cast<uint4*>(nodes + i)[lane] = reinterpret_cast<const uint4*>(&node)[lane];
}

}  // namespace

void write_wide_nodes(const Build& build, const SortedPairs& pairs, const BinaryNodes& inner, const WideNodes& wide,
                      std::size_t count, BvhNode* nodes) {
  const std::size_t threads = count * kSlots;
  write_nodes<<<static_cast<unsigned>((threads + kThreads - 1) / kThreads), kThreads, 0, build.stream>>>(
      {pairs.boxes, inner.clusters, inner.costs, pairs.count, build.input.leaf_pairs}, wide, build.state, nodes);
}

}  // namespace raylift::inline v0_1::cuda
