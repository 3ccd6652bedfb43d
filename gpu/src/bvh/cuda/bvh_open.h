// SPDX-License-Identifier: Apache-2.0
// Opens a cluster of the binary tree into the parts of a wide node, by the choices that were made with the costs, and
// assigns them to slots. Eight lanes work on a node.
#pragma once

#include "bvh_phases.h"

namespace raylift::cuda {

// This thread's lane among the eight of its node.
__device__ inline unsigned slot_lane() {
  return threadIdx.x % kSlots;
}
// The lanes of a group of eight for which it holds, as bits.
__device__ inline unsigned ballot_of_node(bool holds) {
  return __ballot_sync(kAll, holds) >> (threadIdx.x % 32 & ~7u) & 0xFFu;
}
// The first of eight lanes with the largest rank, and that rank.
__device__ inline std::uint32_t largest_of_node(std::uint32_t rank, unsigned& lane) {
  std::uint32_t best = rank;
#pragma unroll
  for (int apart = 4; apart != 0; apart /= 2) best = max(best, __shfl_xor_sync(kAll, best, apart));
  lane = static_cast<unsigned>(__ffs(static_cast<int>(ballot_of_node(rank == best)))) - 1;
  return best;
}

/// A part of what is below a wide node. No pairs: none.
struct Part {
  std::uint32_t number = kNone;
  std::uint32_t pairs = 0;  // up to 4, which stands for more, too
  unsigned roots = 0;       // that it may become
  unsigned left_roots = 0;  // of them, in its left part; 0: it becomes one
  bool leaf = false;
  Cluster cluster{};

  Part() = default;
  /// Issues all reads at once, since a part can't be read before the one that contains it.
  __device__ Part(const Tree& tree, std::uint32_t n, unsigned of_roots) : number(n), roots(of_roots) {
    std::uint32_t choice = 0;
    bool divided = false;
    if (n >= tree.pairs) {
      const CostsAndChoice& costs = tree.costs[n - tree.pairs];
      choice = __ldg(&costs.choice);
      divided = roots == kSlots || __ldg(&costs.of[roots - 1]) < __ldg(&costs.of[0]);
    }
    cluster = tree.at(n);
    pairs = n < tree.pairs ? 1 : 2 + (cluster.left >> 30);
    left_roots = divided ? choice >> 3 * (roots - 2) & 7u : 0;
    leaf = pairs == 1 || (choice & kChoiceOfLeaf) != 0;
  }
};

// This lane's part of a node, whose root the first lane has. A part that may become n roots owns n lanes and lies in
// the first of them. Each step divides all parts that are still to be divided.
__device__ inline Part open(const Tree& tree, Part part) {
  const unsigned lane = slot_lane();
  while (__any_sync(kAll, part.left_roots != 0)) {
    // The part that owns this lane.
    const unsigned behind = ballot_of_node(part.pairs != 0) & ((2u << lane) - 1);
    const int owner = behind == 0 ? 0 : 31 - __clz(static_cast<int>(behind));
    const unsigned lefts = __shfl_sync(kAll, part.left_roots, owner, kSlots);
    const unsigned roots = __shfl_sync(kAll, part.roots, owner, kSlots);
    const std::uint32_t left = __shfl_sync(kAll, part.cluster.left, owner, kSlots) & kNumber;
    const std::uint32_t right = __shfl_sync(kAll, part.cluster.right, owner, kSlots);
    const bool is_left = lane == static_cast<unsigned>(owner);
    if (lefts != 0 && (is_left || lane == owner + lefts))
      part = Part(tree, is_left ? left : right, is_left ? lefts : roots - lefts);
  }
  return part;
}

// A slot for each lane's part. Inner ones by direction: the part and slot that agree most come first. The others go
// wherever there is room, as all pairs that a ray may hit are tested before any child.
__device__ inline unsigned choose_slot(const Part& part, bool inner, const Cluster& whole) {
  float offset[3];
#pragma unroll
  for (int a = 0; a < 3; ++a)
    offset[a] = 0.5f * (part.cluster.lower[a] + part.cluster.upper[a]) - 0.5f * (whole.lower[a] + whole.upper[a]);
  unsigned slot = 0, taken = 0;
  bool waits = inner;
  while (__any_sync(kAll, waits)) {
    float best = -INFINITY;
    unsigned wanted = 0;
#pragma unroll
    for (unsigned s = 0; s < kSlots; ++s) {
      const float agreement =
          (s & 1 ? offset[0] : -offset[0]) + (s & 2 ? offset[1] : -offset[1]) + (s & 4 ? offset[2] : -offset[2]);
      if ((taken >> s & 1) == 0 && agreement > best) {
        best = agreement;
        wanted = s;
      }
    }
    unsigned chosen;
    const bool any = largest_of_node(waits ? ordered(best) : 0, chosen) != 0;
    wanted = __shfl_sync(kAll, wanted, static_cast<int>(chosen), kSlots);
    if (any) taken |= 1u << wanted;
    if (any && slot_lane() == chosen) {
      slot = wanted;
      waits = false;
    }
  }
  const unsigned others = ballot_of_node(!inner);
  if (inner) return slot;
  unsigned room = ~taken;
  for (int k = __popc(others & ((1u << slot_lane()) - 1)); k != 0; --k) room &= room - 1;
  return static_cast<unsigned>(__ffs(static_cast<int>(room))) - 1;
}

}  // namespace raylift::cuda
