// SPDX-License-Identifier: Apache-2.0
// The binary tree: clusters along the Morton curve, merged bottom-up.
//
// Benthin, Meister, Barczak, Mehalwal, Tsakok, Kensler, "H-PLOC: Hierarchical Parallel Locally-Ordered Clustering for
// Bounding Volume Hierarchy Construction" (HPG 2024), over the radix tree walk of Apetrei, "Fast and Simple
// Agglomerative LBVH Construction" (2014). Each merge also computes the new cluster's least costs as wide nodes, and
// the choices that lead to them: the dynamic programme of Ylitie, Karras, Laine, "Efficient Incoherent Ray Traversal on
// GPUs Through Compressed Wide BVHs" (HPG 2017), section 4.
//
// Binary nodes are numbered without a counter, which all warps would wait for: a cluster has a place along the curve of
// its own, a merged one keeps that of its left part, and the new node is numbered by that of the right one, less one.
#include <cuda_pipeline.h>

#include <algorithm>
#include <cuda/atomic>

#include "bvh_phases.h"

namespace raylift::cuda {
namespace {

constexpr int kMergeThreads = 64;
constexpr int kRadius = 8;  // how far a cluster looks for a partner; 16 gave no better trees
constexpr int kKept = 16;   // clusters that a subtree is merged down to, half a warp

// Clusters and costs are read and written past the L1 cache, since other multiprocessors write them meanwhile. (Below
// compute capability 8.0 costs come through it; the acquiring exchange before makes that safe.)
template <class Record>
__device__ Record load(const Record* from) {
  static_assert(sizeof(Record) == 2 * sizeof(float4));
  const auto* source = reinterpret_cast<const float4*>(from);
  const float4 halves[2] = {__ldcg(source), __ldcg(source + 1)};
  Record record;
  memcpy(&record, halves, sizeof record);
  return record;
}
template <class Record>
__device__ void store(Record* to, const Record& record) {
  static_assert(sizeof(Record) == 2 * sizeof(float4));
  float4 halves[2];
  memcpy(halves, &record, sizeof record);
  auto* target = reinterpret_cast<float4*>(to);
  __stcg(target, halves[0]);
  __stcg(target + 1, halves[1]);
}

// One warp's clusters, one a lane.
struct alignas(16) Lane {
  std::uint32_t number;  // tagged as in Cluster::left; kNone: none
  std::uint32_t place;   // along the curve
  float lower[3], upper[3];
};

__device__ float half_area(const float (&extent)[3]) {
  return extent[0] * extent[1] + extent[1] * extent[2] + extent[2] * extent[0];
}

__device__ float half_area(const Cluster& c) {
  const float extent[3] = {c.upper[0] - c.lower[0], c.upper[1] - c.lower[1], c.upper[2] - c.lower[2]};
  return half_area(extent);
}

// The neighbour with which a lane's cluster merges best, as a key: how much larger the common box is than the two on
// average, to 16 bits; then the lower of the two lanes, and how far they are apart. Both see the same key for a pair of
// neighbours, and the smallest of all is each other's choice: so something merges. Without the average, large clusters
// find partners too late, and rays visit up to 4 % more nodes.
__device__ std::uint32_t nearest(const Lane& mine, int count) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  float extent[3];
#pragma unroll
  for (int a = 0; a < 3; ++a) extent[a] = mine.upper[a] - mine.lower[a];
  const float share = 0.5f * half_area(extent);
  std::uint32_t best = kNone;
#pragma unroll
  for (int d = 1; d <= kRadius; ++d) {
#pragma unroll
    for (int a = 0; a < 3; ++a)
      extent[a] = fmaxf(mine.upper[a], __shfl_down_sync(kAll, mine.upper[a], d)) -
                  fminf(mine.lower[a], __shfl_down_sync(kAll, mine.lower[a], d));
    // Below zero at most by the rounding of areas too small for normal floats. The sign is shifted out.
    const float growth = half_area(extent) - (share + __shfl_down_sync(kAll, share, d));
    const std::uint32_t key =
        lane + d < count ? (__float_as_uint(growth) << 1 & ~0xFFu) | static_cast<std::uint32_t>(lane << 3 | (d - 1))
                         : kNone;
    best = min(best, min(key, __shfl_up_sync(kAll, key, d)));  // lanes below d get their own
  }
  return best;
}
static_assert(kRadius <= 8);

__device__ CostsAndChoice costs_of_pair(float area) {
  CostsAndChoice costs{};
#pragma unroll
  for (float& cost : costs.of) cost = area * kPairCost;
  return costs;
}

// The costs and choices of a cluster over two others. The lowest three bits of a sum hold the number of roots in the
// left cluster, so that one minimum yields both the cost and that number.
__device__ CostsAndChoice join(const CostsAndChoice& left, const CostsAndChoice& right, float area, bool may_be_leaf) {
  std::uint32_t divided[kSlots - 1];  // for 2 to 8 roots; more roots never cost more
#pragma unroll
  for (int roots = 2; roots <= kSlots; ++roots) {
    std::uint32_t best = kNone;
#pragma unroll
    for (int k = 1; k < roots; ++k)
      best = min(best, (__float_as_uint(left.of[k - 1] + right.of[roots - k - 1]) & ~7u) | static_cast<unsigned>(k));
    divided[roots - 2] = best;
  }
  CostsAndChoice costs;
  costs.choice = 0;
#pragma unroll
  for (int roots = kSlots; roots >= 2; --roots) costs.choice = costs.choice << 3 | (divided[roots - 2] & 7u);
  float one_root = __uint_as_float(divided[kSlots - 2]) + area * kNodeCost;
  if (may_be_leaf && 2 * kPairCost * area <= one_root) {
    one_root = 2 * kPairCost * area;
    costs.choice |= kChoiceOfLeaf;
  }
  costs.of[0] = one_root;
#pragma unroll
  for (int roots = 2; roots < kSlots; ++roots)
    costs.of[roots - 1] = fminf(__uint_as_float(divided[roots - 2]), one_root);
  return costs;
}

/// What a warp has in shared memory.
struct Shared {
  Lane exchange[32];
  CostsAndChoice costs[32];  // of the clusters: they stay where they are while clusters move from lane to lane
  unsigned costs_at[32];
};

/// The binary nodes.
struct Inner {
  Cluster* clusters;
  CostsAndChoice* costs;
  std::uint32_t leaf_pairs;
};

// Merges two lanes' clusters into the first one's, as a binary node.
__device__ void merge(Lane& left, const Lane& right, CostsAndChoice& left_costs, const CostsAndChoice& right_costs,
                      const Inner& inner, std::uint32_t pairs) {
  const std::uint32_t below = min(pairs_below(left.number, pairs) + pairs_below(right.number, pairs), 4u);
  Cluster cluster;
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    cluster.lower[a] = left.lower[a] = fminf(left.lower[a], right.lower[a]);
    cluster.upper[a] = left.upper[a] = fmaxf(left.upper[a], right.upper[a]);
  }
  cluster.left = (left.number & kNumber) | (below - 2) << 30;
  cluster.right = right.number & kNumber;
  store(inner.clusters + (right.place - 1), cluster);
  left.number = (pairs + right.place - 1) | (below - 2) << 30;
  left_costs = join(left_costs, right_costs, half_area(cluster), below == 2 && inner.leaf_pairs >= 2);
  store(inner.costs + (right.place - 1), left_costs);
}

__device__ void merge_down(Lane& mine, int& count, int wanted, const Inner& inner, std::uint32_t pairs,
                           Shared& shared) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  Lane* const exchange = shared.exchange;
  unsigned costs_at = static_cast<unsigned>(lane);
  while (count > wanted) {
    const std::uint32_t best = nearest(mine, count);
    const int low = static_cast<int>(best >> 3 & 31u), apart = static_cast<int>(best & 7u) + 1;
    const int partner = lane >= count ? lane : low == lane ? lane + apart : low;
    const bool mutual = __shfl_sync(kAll, best, partner) == best && lane < count;
    const bool merges = mutual && lane == low;
    const unsigned costs_of_partner = __shfl_sync(kAll, costs_at, partner);
    exchange[lane] = mine;
    __pipeline_wait_prior(0);
    __syncwarp();
    if (merges) merge(mine, exchange[partner], shared.costs[costs_at], shared.costs[costs_of_partner], inner, pairs);
    __syncwarp();
    const bool stays = lane < count && (!mutual || merges);
    const unsigned staying = __ballot_sync(kAll, stays);
    const int moved = __popc(staying & ((1u << lane) - 1u));
    if (stays) {
      exchange[moved] = mine;
      shared.costs_at[moved] = costs_at;
    }
    __syncwarp();
    count = __popc(staying);
    mine = exchange[lane];
    costs_at = lane < count ? shared.costs_at[lane] : 0;
    if (lane >= count) mine.number = kNone;
    __syncwarp();
  }
}

/// Clusters that subtrees were merged down to, at the front of each subtree's range along the curve. Only of ranges
/// that were merged: in others each pair is at its own place. Whole lanes, so that a merge begins after one read; the
/// number of an unused one is kNone.
using Kept = Lane*;
/// The pairs along the curve.
struct Curve {
  const std::uint64_t* keys;
  KeyLayout layout;
  std::uint32_t count;
};

/// The keys on both sides of a range's end. A thread reads them once it has the range, and uses them after the
/// range is merged.
struct End {
  std::uint64_t here = 0, beyond = 0;

  /// Bits that the places of the pair at the end and of the next one beyond have in common; equal places are ordered
  /// by position, which gives trees of fewer levels than their numbers do. `i` is the lower of the two positions.
  [[nodiscard]] __device__ int common_prefix(std::uint32_t i, const KeyLayout& layout) const {
    const std::uint64_t different = here ^ beyond;
    return different >> layout.number_bits != 0 ? __clzll(static_cast<long long>(different))
                                                : 64 + __clz(static_cast<int>(i ^ (i + 1)));
  }
};
__device__ End left_end(const Curve& curve, std::uint32_t left) {
  return left == 0 ? End{} : End{__ldg(curve.keys + left), __ldg(curve.keys + left - 1)};
}
__device__ End right_end(const Curve& curve, std::uint32_t right) {
  return right == curve.count - 1 ? End{} : End{__ldg(curve.keys + right), __ldg(curve.keys + right + 1)};
}

// The cluster at `from`; `merged`: in a range that was.
__device__ Lane cluster_at(std::uint32_t from, bool merged, const Curve& curve, const Kept kept,
                           const Cluster* __restrict__ boxes) {
  if (merged) return load(kept + from);
  Lane lane;
  lane.number = curve.layout.number(__ldg(curve.keys + from));
  lane.place = from;
  const Cluster c = load(boxes + lane.number);
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    lane.lower[a] = c.lower[a];
    lane.upper[a] = c.upper[a];
  }
  return lane;
}

// Merges the clusters of [begin, middle) and [middle, end) down to at most kKept, or to the root of all.
__device__ void merge_range(std::uint32_t begin, std::uint32_t middle, std::uint32_t end, const Curve& curve,
                            const Kept kept, const Cluster* __restrict__ boxes, const Inner& inner, BuildState* state,
                            Shared& shared) {
  const std::uint32_t count = curve.count;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const bool last = end - begin == count;
  // Half a warp reads each part, at once; then the clusters of the right one move up to those of the left one.
  const bool in_left = lane < kKept;
  const int slot = lane % kKept;
  const std::uint32_t first = in_left ? begin : middle, size = in_left ? middle - begin : end - middle;
  Lane mine{kNone, 0, {0, 0, 0}, {0, 0, 0}};
  if (size > kKept || slot < static_cast<int>(size)) mine = cluster_at(first + slot, size > kKept, curve, kept, boxes);
  const unsigned there = __ballot_sync(kAll, mine.number != kNone);
  int here = __popc(there);
  if (mine.number != kNone) shared.exchange[__popc(there & ((1u << lane) - 1u))] = mine;
  __syncwarp();
  mine.number = kNone;
  if (lane < here) {
    mine = shared.exchange[lane];
    const std::uint32_t number = mine.number & kNumber;
    if (number < count) {
      const float extent[3] = {mine.upper[0] - mine.lower[0], mine.upper[1] - mine.lower[1],
                               mine.upper[2] - mine.lower[2]};
      shared.costs[lane] = costs_of_pair(half_area(extent));
    } else {
      // They come while the first partners are looked for.
      __pipeline_memcpy_async(&shared.costs[lane], inner.costs + (number - count), 16);
      __pipeline_memcpy_async(reinterpret_cast<char*>(&shared.costs[lane]) + 16,
                              reinterpret_cast<const char*>(inner.costs + (number - count)) + 16, 16);
    }
  }
  __pipeline_commit();
  __syncwarp();
  merge_down(mine, here, last ? 1 : kKept, inner, count, shared);
  __pipeline_wait_prior(0);  // also where nothing had to merge
  if (last) {
    if (lane == 0) state->root = mine.number & kNumber;
  } else if (lane < kKept) {
    store(kept + begin + lane, mine);
  }
}

// Leaves a value where two warps arrive, and finds what the other one left, or kNone. The lane that is second sees all
// that the first one's warp wrote before its last fence, which is the release; its own warp does after __syncwarp().
__device__ std::uint32_t arrive(std::uint32_t* at, std::uint32_t value) {
  const ::cuda::atomic_ref<std::uint32_t, ::cuda::thread_scope_device> arrived(*at);
  return arrived.exchange(value, ::cuda::memory_order_acquire);
}

// From 32 neighbouring pairs, one a lane, up to where others continue.
__device__ void climb(std::uint32_t i, const Curve& curve, const Kept kept, const Cluster* __restrict__ boxes,
                      const Inner& inner, std::uint32_t* arrived, BuildState* state, Shared& shared) {
  const std::uint32_t count = curve.count;
  bool active = i < count;
  std::uint32_t left = i, right = i, split = 0;
  End at_left, at_right;
  if (active) {
    at_left = left_end(curve, left);
    at_right = right_end(curve, right);
  }
  while (__ballot_sync(kAll, active) != 0) {
    if (active) {
      // Up the radix tree, to the neighbour with the longer common prefix. The first thread to arrive exits; the second
      // continues with the merged range.
      const bool to_right = left == 0 || (right != count - 1 && at_right.common_prefix(right, curve.layout) >
                                                                    at_left.common_prefix(left - 1, curve.layout));
      const std::uint32_t other = arrive(&arrived[to_right ? right : left - 1], to_right ? left : right);
      if (other == kNone)
        active = false;
      else if (to_right) {
        split = right + 1;
        right = other;
        at_right = right_end(curve, right);
      } else {
        split = left;
        left = other;
        at_left = left_end(curve, left);
      }
    }
    const std::uint32_t size = right - left + 1;
    const bool whole = active && size == count;
    unsigned large = __ballot_sync(kAll, (active && size > kKept) || whole);
    const bool any_large = large != 0;
    if (any_large) __syncwarp();  // what one lane sees since it arrived, all of them do
    while (large != 0) {
      const int owner = __ffs(static_cast<int>(large)) - 1;
      large &= large - 1;
      const std::uint32_t begin = __shfl_sync(kAll, left, owner), end = __shfl_sync(kAll, right, owner) + 1,
                          middle = __shfl_sync(kAll, split, owner);
      merge_range(begin, middle, end, curve, kept, boxes, inner, state, shared);
    }
    if (any_large) {
      // What all lanes wrote comes before what one of them writes into `arrived`.
      __syncwarp();
      ::cuda::atomic_thread_fence(::cuda::memory_order_acq_rel, ::cuda::thread_scope_device);
    }
    if (whole) active = false;
  }
}

// Warps take pairs until none are left. A block for each 64 of them would keep its place for the one warp that climbs
// on, and a third of the places would be in use.
__global__ void __launch_bounds__(kMergeThreads) build_binary(Curve curve, Kept kept, const Cluster* __restrict__ boxes,
                                                              Inner inner, std::uint32_t* arrived, BuildState* state) {
  __shared__ Shared of_warps[kMergeThreads / 32];
  Shared& shared = of_warps[threadIdx.x / 32];
  const std::uint32_t lane = threadIdx.x % 32;
  while (true) {
    std::uint32_t first = 0;
    if (lane == 0) first = atomicAdd(&state->begun, 32u);
    first = __shfl_sync(kAll, first, 0);
    if (first >= curve.count) return;
    climb(first + lane, curve, kept, boxes, inner, arrived, state, shared);
  }
}

}  // namespace

BinaryNodes build_binary_tree(const Build& build, const SortedPairs& pairs) {
  const Inner inner{build.take<Cluster>(pairs.count), build.take<CostsAndChoice>(pairs.count), build.input.leaf_pairs};
  const Kept kept = build.take<Lane>(pairs.count);
  if (pairs.count == 1) return {inner.clusters, inner.costs};  // the root is pair 0
  const unsigned blocks = (pairs.count + kMergeThreads - 1) / kMergeThreads;
  build_binary<<<std::min(blocks, resident_blocks(build_binary, kMergeThreads)), kMergeThreads, 0, build.stream>>>(
      {pairs.keys, pairs.layout, pairs.count}, kept, pairs.boxes, inner, pairs.arrived, build.state);
  return {inner.clusters, inner.costs};
}

}  // namespace raylift::cuda
