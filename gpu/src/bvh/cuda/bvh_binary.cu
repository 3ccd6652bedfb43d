// SPDX-License-Identifier: Apache-2.0
// The binary tree: clusters along the Morton curve, merged bottom-up. Deterministic but for the numbers of binary
// nodes, which nobody sees.
//
// Benthin, Meister, Barczak, Mehalwal, Tsakok, Kensler, "H-PLOC: Hierarchical Parallel Locally-Ordered Clustering for
// Bounding Volume Hierarchy Construction" (HPG 2024), over the radix tree walk of Apetrei, "Fast and Simple
// Agglomerative LBVH Construction" (2014).
#include "bvh_phases.h"

namespace raylift::inline v0_1::cuda {
namespace {

constexpr int kMergeThreads = 64;
constexpr int kRadius = 8;  // how far a cluster looks for a partner; 16 gave no better trees
constexpr int kKept = 16;   // clusters that a subtree is merged down to, half a warp

__device__ Cluster load_cluster(const Cluster* cluster) {
  // Written by other multiprocessors meanwhile: past the first level cache.
  const float4* source = reinterpret_cast<const float4*>(cluster);
  const float4 a = __ldcg(source), b = __ldcg(source + 1);
  return {{a.x, a.y, a.z}, __float_as_uint(a.w), {b.x, b.y, b.z}, __float_as_uint(b.w)};
}
__device__ void store_cluster(Cluster* to, const Cluster& c) {
  float4* target = reinterpret_cast<float4*>(to);
  __stcg(target, make_float4(c.lower[0], c.lower[1], c.lower[2], __uint_as_float(c.left)));
  __stcg(target + 1, make_float4(c.upper[0], c.upper[1], c.upper[2], __uint_as_float(c.right)));
}

// Bits that two neighbours' places on the curve have in common; equal ones are told apart by position.
__device__ int common_prefix(const std::uint64_t* keys, std::uint32_t i) {
  const std::uint64_t different = __ldg(keys + i) ^ __ldg(keys + i + 1);
  return different != 0 ? __clzll(static_cast<long long>(different)) : 64 + __clz(static_cast<int>(i ^ (i + 1)));
}

// One warp's clusters, one a lane.
struct Lane {
  std::uint32_t number;  // kNone: none
  std::uint32_t count;   // pairs below, up to 4
  float lower[3], upper[3];
};

// The neighbour with which a lane's cluster has the smallest common box, as a key: the area, then the lower of the two
// lanes and how far they are apart. Both see the same key for a pair of neighbours, and the smallest of all is each
// other's choice: so something merges.
__device__ std::uint64_t nearest(const Lane& mine, int count) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  std::uint64_t best = ~0ull;
#pragma unroll
  for (int d = 1; d <= kRadius; ++d) {
    float extent[3];
#pragma unroll
    for (int a = 0; a < 3; ++a)
      extent[a] = fmaxf(mine.upper[a], __shfl_down_sync(kAll, mine.upper[a], d)) -
                  fminf(mine.lower[a], __shfl_down_sync(kAll, mine.lower[a], d));
    const float area = extent[0] * extent[1] + extent[1] * extent[2] + extent[2] * extent[0];
    const std::uint64_t key = lane + d < count ? static_cast<std::uint64_t>(__float_as_uint(area)) << 32 |
                                                     static_cast<std::uint64_t>(lane << 8 | d)
                                               : ~0ull;
    const std::uint64_t above = __shfl_up_sync(kAll, key, d);
    best = min(best, key);
    if (lane >= d) best = min(best, above);
  }
  return best;
}

__device__ void merge_down(Lane& mine, int& count, int wanted, Cluster* inner, std::uint32_t pairs, BuildState* state,
                           Lane* exchange) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  while (count > wanted) {
    const std::uint64_t best = nearest(mine, count);
    const int low = static_cast<int>(best >> 8 & 0xFFu), apart = static_cast<int>(best & 0xFFu);
    const int partner = lane >= count ? lane : low == lane ? lane + apart : low;
    const bool mutual = __shfl_sync(kAll, best, partner) == best && lane < count;
    const bool merges = mutual && lane == low;
    const unsigned merging = __ballot_sync(kAll, merges);
    std::uint32_t base = 0;
    if (lane == 0) base = atomicAdd(&state->clusters, static_cast<std::uint32_t>(__popc(merging)));
    base = __shfl_sync(kAll, base, 0);
    exchange[lane] = mine;
    __syncwarp();
    if (merges) {
      const Lane& other = exchange[partner];
      const std::uint32_t total = min(mine.count + other.count, 4u);
      const std::uint32_t k = base + __popc(merging & ((1u << lane) - 1u));
      Cluster cluster;
#pragma unroll
      for (int a = 0; a < 3; ++a) {
        cluster.lower[a] = mine.lower[a] = fminf(mine.lower[a], other.lower[a]);
        cluster.upper[a] = mine.upper[a] = fmaxf(mine.upper[a], other.upper[a]);
      }
      cluster.left = mine.number | (total - 2) << 30;
      cluster.right = other.number;
      store_cluster(inner + k, cluster);
      mine.number = pairs + k;
      mine.count = total;
    }
    __syncwarp();
    const bool stays = lane < count && (!mutual || merges);
    const unsigned staying = __ballot_sync(kAll, stays);
    if (stays) exchange[__popc(staying & ((1u << lane) - 1u))] = mine;
    __syncwarp();
    count = __popc(staying);
    mine = exchange[lane];
    if (lane >= count) mine.number = kNone;
    __syncwarp();
  }
}

// Merges the clusters of [begin, middle) and [middle, end) down to at most kKept, or to the root of all.
__device__ void merge_range(std::uint32_t begin, std::uint32_t middle, std::uint32_t end, std::uint32_t* clusters,
                            const Cluster* __restrict__ boxes, Cluster* inner, std::uint32_t count, BuildState* state,
                            Lane* exchange) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const bool last = end - begin == count;
  // Each side's clusters stand at its front, at most half a warp of them.
  Lane mine{kNone, 1, {0, 0, 0}, {0, 0, 0}};
  const int in_left = static_cast<int>(min(middle - begin, static_cast<std::uint32_t>(kKept)));
  const int in_right = static_cast<int>(min(end - middle, static_cast<std::uint32_t>(kKept)));
  if (lane < in_left) mine.number = __ldcg(clusters + begin + lane);
  const int lefts = __popc(__ballot_sync(kAll, mine.number != kNone));
  if (lane >= lefts) mine.number = lane - lefts < in_right ? __ldcg(clusters + middle + (lane - lefts)) : kNone;
  int here = __popc(__ballot_sync(kAll, mine.number != kNone));
  if (mine.number != kNone) {
    const Cluster c = load_cluster(mine.number < count ? boxes + mine.number : inner + (mine.number - count));
    mine.count = mine.number < count ? 1 : 2 + (c.left >> 30);
#pragma unroll
    for (int a = 0; a < 3; ++a) {
      mine.lower[a] = c.lower[a];
      mine.upper[a] = c.upper[a];
    }
  }
  merge_down(mine, here, last ? 1 : kKept, inner, count, state, exchange);
  if (last) {
    if (lane == 0) state->root = mine.number;
  } else if (lane < kKept) {
    __stcg(clusters + begin + lane, mine.number);
  }
}

__global__ void __launch_bounds__(kMergeThreads)
    build_binary(const std::uint64_t* __restrict__ keys, std::uint32_t* clusters, const Cluster* __restrict__ boxes,
                 Cluster* inner, std::uint32_t* arrived, std::uint32_t count, BuildState* state) {
  __shared__ Lane exchange_of_block[kMergeThreads];
  Lane* exchange = exchange_of_block + threadIdx.x / 32 * 32;
  const std::uint32_t i = blockIdx.x * kMergeThreads + threadIdx.x;
  bool active = i < count;
  std::uint32_t left = i, right = i, split = 0;
  while (__ballot_sync(kAll, active) != 0) {
    if (active) {
      // Up the radix tree, to the neighbour with the longer common prefix. The first thread to arrive exits; the second
      // continues with the merged range.
      const bool to_right =
          left == 0 || (right != count - 1 && common_prefix(keys, right) > common_prefix(keys, left - 1));
      const std::uint32_t other = atomicExch(&arrived[to_right ? right : left - 1], to_right ? left : right);
      if (other == kNone)
        active = false;
      else if (to_right) {
        split = right + 1;
        right = other;
      } else {
        split = left;
        left = other;
      }
    }
    const std::uint32_t size = right - left + 1;
    const bool whole = active && size == count;
    unsigned large = __ballot_sync(kAll, (active && size > kKept) || whole);
    if (large != 0) __threadfence();
    while (large != 0) {
      const int owner = __ffs(static_cast<int>(large)) - 1;
      large &= large - 1;
      const std::uint32_t begin = __shfl_sync(kAll, left, owner), end = __shfl_sync(kAll, right, owner) + 1,
                          middle = __shfl_sync(kAll, split, owner);
      merge_range(begin, middle, end, clusters, boxes, inner, count, state, exchange);
      __threadfence();
      __syncwarp();
    }
    if (whole) active = false;
  }
}

}  // namespace

const Cluster* build_binary_tree(const Build& build, const SortedPairs& pairs) {
  auto* inner = build.take<Cluster>(pairs.count);
  std::uint32_t* arrived = pairs.spare;
  check(cudaMemsetAsync(arrived, 0xFF, std::size_t{pairs.count} * sizeof(std::uint32_t), build.stream),
        "clearing memory");
  if (pairs.count > 1)  // otherwise the root is pair 0
    build_binary<<<(pairs.count + kMergeThreads - 1) / kMergeThreads, kMergeThreads, 0, build.stream>>>(
        pairs.keys, pairs.numbers, pairs.boxes, inner, arrived, pairs.count, build.state);
  return inner;
}

}  // namespace raylift::inline v0_1::cuda
