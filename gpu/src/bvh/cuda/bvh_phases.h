// SPDX-License-Identifier: Apache-2.0
// What the phases of the device's builder share: bounds, pairs, the binary tree, wide nodes. Each has its kernels and
// their launches in a source of its own.
#pragma once

#include <cuda_runtime_api.h>
#include <raylift/geometry/index.h>

#include <cstring>

#include "bvh/bvh_build_kernels.h"
#include "device/cuda/check.h"
#include "geometry/src/bvh/visit_cost.h"

namespace raylift::cuda {

constexpr unsigned kAll = 0xFFFFFFFFu;

/// A binary node, or a pair's box. Numbers below the pair count are pairs, from there on inner nodes. The two highest
/// bits of `left` say how many pairs are below: 0: two, 1: three, 2: more.
struct alignas(16) Cluster {
  float lower[3];
  std::uint32_t left;
  float upper[3];
  std::uint32_t right;
};
constexpr std::uint32_t kNumber = 0x3FFFFFFFu;
static_assert(2 * std::uint64_t{kMaxDevicePairs} - 1 <= kNumber);
/// The pairs below a number tagged like Cluster::left, with `pairs` in all; 4 stands for 4 or more.
__device__ inline std::uint32_t pairs_below(std::uint32_t tagged, std::uint32_t pairs) {
  return (tagged & kNumber) < pairs ? 1 : 2 + (tagged >> 30);
}

/// Floats as integers in the same order, none of them zero, and back.
__host__ __device__ inline std::uint32_t ordered(float x) {
  std::uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits >> 31 != 0 ? ~bits : bits | 1u << 31;
}
__host__ __device__ inline float from_ordered(std::uint32_t rank) {
  const std::uint32_t bits = rank >> 31 != 0 ? rank & ~(1u << 31) : ~rank;
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/// The box of all vertices, for atomics that find the largest: zeros at first.
struct VertexBounds {
  std::uint32_t farthest[6];  // ordered(): coordinates, and their negatives
  std::uint32_t bad;          // a vertex is not finite, or too far

  [[nodiscard]] __host__ __device__ float lower(int axis) const { return -from_ordered(farthest[3 + axis]); }
  [[nodiscard]] __host__ __device__ float upper(int axis) const { return from_ordered(farthest[axis]); }
};

/// Inner nodes and pairs.
struct Totals {
  std::uint32_t inner, pairs;
};
/// What kernels find out for each other and for the host. Zeros at first.
struct BuildState {
  VertexBounds bounds;
  std::uint32_t bad;    // an index is out of range
  std::uint32_t pairs;  // how many
  std::uint32_t begun;  // of them, from which warps climb up the binary tree
  std::uint32_t root;
  // Wide nodes: tiles that blocks have begun, blocks that are done, and, once all are placed, the number of nodes.
  std::uint32_t tiles_begun, blocks_done, wide_nodes;
  int levels;  // more than kBvhMaxDepth: not done
  std::uint32_t level_ends[kBvhMaxDepth];
};

/// How sort keys are made of a place on the Morton curve and, in the lowest bits, of a number, so that no two are equal
/// and numbers need not be sorted along.
struct KeyLayout {
  int number_bits;
  int axis_bits;  // of each axis of the curve

  /// For that many numbers, and at most so many bits an axis.
  __host__ __device__ KeyLayout(std::uint32_t count, int most_axis_bits) : number_bits(1) {
    while (number_bits < 32 && count > std::uint64_t{1} << number_bits) ++number_bits;
    axis_bits = (64 - number_bits) / 3 < most_axis_bits ? (64 - number_bits) / 3 : most_axis_bits;
  }
  [[nodiscard]] __device__ std::uint64_t key(std::uint64_t place, std::uint32_t number) const {
    return place << number_bits | number;
  }
  [[nodiscard]] __device__ std::uint32_t number(std::uint64_t key) const {
    return static_cast<std::uint32_t>(key & ((std::uint64_t{1} << number_bits) - 1));
  }
};

/// The largest of a warp's values: one instruction from compute capability 8.0 on.
__device__ inline std::uint32_t max_of_warp(std::uint32_t value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  return __reduce_max_sync(kAll, value);
#else
  for (int distance = 16; distance != 0; distance /= 2) value = max(value, __shfl_xor_sync(kAll, value, distance));
  return value;
#endif
}

// Bit i to bit 3i, for 21 bits: one axis of a place on the Morton curve.
__device__ inline std::uint64_t spread(std::uint32_t x) {
  std::uint64_t v = x;
  v = (v | v << 32) & 0x001F00000000FFFFull;
  v = (v | v << 16) & 0x001F0000FF0000FFull;
  v = (v | v << 8) & 0x100F00F00F00F00Full;
  v = (v | v << 4) & 0x10C30C30C30C30C3ull;
  v = (v | v << 2) & 0x1249249249249249ull;
  return v;
}

/// A build under way: what all phases take.
struct Build {
  const BuildInput& input;
  cudaStream_t stream;
  ScratchMemory& memory;
  BuildState* state;

  template <class T>
  [[nodiscard]] T* take(std::size_t count) const {
    return static_cast<T*>(memory.scratch((count == 0 ? 1 : count) * sizeof(T)));
  }
  /// Calls an algorithm of CUB, call(scratch, bytes), which is asked first for how much scratch memory it needs.
  template <class Call>
  void run_cub(const char* doing, const Call& call) const {
    std::size_t bytes = 0;
    check(call(nullptr, bytes), doing);
    check(call(take<char>(bytes), bytes), doing);
  }
};

using bvh_detail::kNodeCost;
using bvh_detail::kPairCost;
/// A binary node's least costs as a forest of at most i + 1 roots, each a wide node or a leaf; and if it has 2 to
/// 8 roots, how many of them are in its left part, three bits each.
struct alignas(16) CostsAndChoice {
  float of[7];
  std::uint32_t choice;
};
constexpr std::uint32_t kChoiceOfLeaf = 1u << 21;  // with one root, it is a leaf

struct BinaryNodes {
  const Cluster* clusters;
  const CostsAndChoice* costs;
};

/// The binary tree, as kernels read it.
struct Tree {
  const Cluster* boxes;
  const Cluster* inner;
  const CostsAndChoice* costs;
  std::uint32_t pairs;
  std::uint32_t leaf_pairs;  // 1 or 2

  [[nodiscard]] __device__ Cluster at(std::uint32_t number) const {
    const auto* source = reinterpret_cast<const float4*>(number < pairs ? boxes + number : inner + (number - pairs));
    const float4 a = __ldg(source), b = __ldg(source + 1);
    return {{a.x, a.y, a.z}, __float_as_uint(a.w), {b.x, b.y, b.z}, __float_as_uint(b.w)};
  }
};

/// How many blocks of a kernel the current device holds at a time.
template <class Kernel>
unsigned resident_blocks(Kernel kernel, int threads) {
  int device = 0, multiprocessors = 0, each = 0;
  check(cudaGetDevice(&device), "asking for the device");
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device), "asking for the device");
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, 0), "asking for occupancy");
  return static_cast<unsigned>(multiprocessors * (each < 1 ? 1 : each));
}

/// Pairs, a triangle alone being one, of each block of triangles, and of groups of blocks.
struct PairCounts {
  std::uint32_t* of_block;
  std::uint32_t* of_group;
};
/// Which triangles are paired; finds BuildState::pairs and BuildState::bounds.
struct Matches {
  std::int8_t* mates;  // of each triangle, how far off the one is that it is paired with; 0: none
  PairCounts pairs;
};
[[nodiscard]] Matches match_triangles(const Build& build);

/// Pairs in the order of the triangles, and their places on the Morton curve.
struct PlacedPairs {
  bvh_detail::PairIds* ids;
  Cluster* boxes;
  std::uint64_t* keys;     // as many again behind them
  std::uint32_t* arrived;  // all kNone, for the binary tree
};
/// There is room for as many; BuildState::pairs need not be known to the host. Nothing is done where it says `bad`.
[[nodiscard]] PlacedPairs place_pairs(const Build& build, const Matches& matches, std::uint32_t room);

/// The same sorted along the curve.
struct SortedPairs {
  std::uint32_t count;
  const bvh_detail::PairIds* ids;  // in the order of the triangles, as boxes
  const Cluster* boxes;
  const std::uint64_t* keys;  // sorted
  KeyLayout layout;
  std::uint32_t* arrived;  // as many, all kNone
};
/// What sorting takes besides the keys, for as many as there is room for.
struct SortScratch {
  void* memory;
  std::size_t bytes;
};
[[nodiscard]] SortScratch scratch_to_sort(const Build& build, std::uint32_t room, const KeyLayout& layout);
[[nodiscard]] SortScratch scratch_to_sort_pairs(const Build& build, std::uint32_t room);
[[nodiscard]] SortedPairs sort_pairs(const Build& build, const PlacedPairs& placed, SortScratch scratch,
                                     std::uint32_t room, std::uint32_t count);
/// Sorts `count` keys, behind the first `room` of which there is room for as many. Returns where they are.
[[nodiscard]] const std::uint64_t* sort_keys(const Build& build, std::uint64_t* keys, SortScratch scratch,
                                             std::uint32_t room, std::uint32_t count, const KeyLayout& layout);

/// The binary tree over all pairs; finds BuildState::root. Returns its inner nodes.
[[nodiscard]] BinaryNodes build_binary_tree(const Build& build, const SortedPairs& pairs);

/// Wide nodes, level by level; finds levels and level_ends.
constexpr int kSlots = 8;
struct WideNodes {
  const bvh_detail::BvhNode* nodes;
  const std::uint32_t* order;  // the pairs in the order of their leaves
};
/// Messages between the gathering blocks, cleared, for as many pairs as there is room for.
struct ClearedQueue {
  void* sums;
  std::uint32_t* roots;
};
[[nodiscard]] ClearedQueue clear_queue(const Build& build, std::uint32_t room);
[[nodiscard]] WideNodes gather_wide_nodes(const Build& build, const SortedPairs& pairs, const BinaryNodes& inner,
                                          const ClearedQueue& cleared);

/// The leaves' vertices and numbers, in the order of the leaves, unless there are more levels than kBvhMaxDepth.
void write_pairs(const Build& build, const SortedPairs& pairs, const std::uint32_t* order,
                 bvh_detail::TrianglePair* leaves, bvh_detail::PairIds* ids);

}  // namespace raylift::cuda
