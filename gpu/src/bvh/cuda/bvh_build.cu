// SPDX-License-Identifier: Apache-2.0
// The hierarchy built on the device: pairs of neighbouring triangles, sorted along a Morton curve, merged bottom-up
// into a binary tree, gathered top-down into wide nodes. Deterministic: ties are broken by position, and everything
// that is written gets its place by prefix sums; only the numbers of binary nodes, which nobody sees, depend on timing.
//
// Merging: Benthin, Meister, Barczak, Mehalwal, Tsakok, Kensler, "H-PLOC: Hierarchical Parallel Locally-Ordered
// Clustering for Bounding Volume Hierarchy Construction" (HPG 2024), over the radix tree walk of Apetrei, "Fast and
// Simple Agglomerative LBVH Construction" (2014).
#include <cooperative_groups.h>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include <raylift/geometry/bvh/detail/arithmetic.h>

#include "bvh/bvh_build_kernels.h"
#include "device/cuda/check.h"

namespace raylift::cuda {
namespace {

namespace cg = cooperative_groups;

constexpr unsigned kAll = 0xFFFFFFFFu;
constexpr std::uint32_t kNone = 0xFFFFFFFFu;
constexpr int kSlots = 8;
constexpr float kLargest = 1e18f;  // as on the host

// A binary node, or a pair's box. Numbers below the pair count are pairs, from there on inner nodes. The two highest
// bits of `left` say how many pairs are below: 0: two, 1: three, 2: more.
struct alignas(16) Cluster {
  float lower[3];
  std::uint32_t left;
  float upper[3];
  std::uint32_t right;
};
constexpr std::uint32_t kNumber = 0x3FFFFFFFu;

// What kernels find out for each other and for the host.
struct State {
  int lower[3], upper[3];  // of the vertices, as integers that compare like floats
  unsigned bad;            // a vertex that is not finite or too far, an index out of range
  std::uint32_t pairs;     // how many
  std::uint32_t clusters;  // binary nodes made
  std::uint32_t root;
  int levels;  // of wide nodes; more than kBvhMaxDepth: not done
  std::uint32_t level_ends[kBvhMaxDepth];
};

__device__ int ordered(float f) {
  const int i = __float_as_int(f);
  return i >= 0 ? i : i ^ 0x7FFFFFFF;
}
RAYLIFT_HD float unordered(int i) {
  return bvh_detail::as_float(static_cast<std::uint32_t>(i >= 0 ? i : i ^ 0x7FFFFFFF));
}

__global__ void reset(State* state) {
  *state = State{};
  for (int a = 0; a < 3; ++a) {
    state->lower[a] = 0x7FFFFFFF;
    state->upper[a] = static_cast<int>(0x80000000u);
  }
}

// The grid's threads number a multiple of three, so each stays on one axis.
__global__ void bound_vertices(const float* __restrict__ coordinates, std::size_t count, State* state) {
  __shared__ int lows[3], highs[3];
  if (threadIdx.x < 3) {
    lows[threadIdx.x] = 0x7FFFFFFF;
    highs[threadIdx.x] = static_cast<int>(0x80000000u);
  }
  __syncthreads();
  int low = 0x7FFFFFFF, high = static_cast<int>(0x80000000u);
  bool bad = false;
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::size_t i = first; i < count; i += std::size_t{gridDim.x} * blockDim.x) {
    const float x = coordinates[i];
    bad |= !(fabsf(x) <= kLargest);
    low = min(low, ordered(x));
    high = max(high, ordered(x));
  }
  atomicMin(&lows[first % 3], low);
  atomicMax(&highs[first % 3], high);
  if (bad) atomicOr(&state->bad, 1u);
  __syncthreads();
  if (threadIdx.x < 3) {
    atomicMin(&state->lower[threadIdx.x], lows[threadIdx.x]);
    atomicMax(&state->upper[threadIdx.x], highs[threadIdx.x]);
  }
}

// ---- pairs ----------------------------------------------------------------------------------------------------------

constexpr int kPairBlock = 256;  // triangles that are paired among each other
constexpr int kPairReach = 4;    // how far apart they stand, at most

__device__ std::uint32_t corner(const uint3& t, int k) {
  return k == 0 ? t.x : k == 1 ? t.y : t.z;
}
__device__ int next_corner(int k) {
  return k == 2 ? 0 : k + 1;
}
__device__ bool degenerate(const uint3& t) {
  return t.x == t.y || t.y == t.z || t.z == t.x;
}

struct Box {
  float lower[3], upper[3];
  __device__ void clear() {
    for (int a = 0; a < 3; ++a) {
      lower[a] = INFINITY;
      upper[a] = -INFINITY;
    }
  }
  __device__ void add(float3 v) {
    lower[0] = fminf(lower[0], v.x);
    lower[1] = fminf(lower[1], v.y);
    lower[2] = fminf(lower[2], v.z);
    upper[0] = fmaxf(upper[0], v.x);
    upper[1] = fmaxf(upper[1], v.y);
    upper[2] = fmaxf(upper[2], v.z);
  }
  __device__ float half_area() const {
    const float x = upper[0] - lower[0], y = upper[1] - lower[1], z = upper[2] - lower[2];
    return x * y + y * z + z * x;
  }
};

__device__ Box box_of(const float3* vertices, const uint3& t) {
  Box box;
  box.clear();
  box.add(vertices[t.x]);
  box.add(vertices[t.y]);
  box.add(vertices[t.z]);
  return box;
}

// How two triangles share an edge in opposite directions: the corner of each that is not on it; false if they don't.
__device__ bool share_edge(const uint3& a, const uint3& b, int& corner_a, int& corner_b) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      if (corner(a, next_corner(i)) == corner(b, next_corner(next_corner(j))) &&
          corner(a, next_corner(next_corner(i))) == corner(b, next_corner(j))) {
        corner_a = i;
        corner_b = j;
        return true;
      }
  return false;
}

__device__ bool good_pair(const float3* vertices, const uint3& a, const uint3& b) {
  int i, j;
  if (degenerate(a) || degenerate(b) || !share_edge(a, b, i, j)) return false;
  const Box of_a = box_of(vertices, a), of_b = box_of(vertices, b);
  Box both = of_a;
  both.add(vertices[corner(b, j)]);
  // A pair whose box is larger than both triangles' apart would be worse than two leaves.
  return both.half_area() <= 1.1f * (of_a.half_area() + of_b.half_area());
}

// mates[t]: how far off the triangle is that t is paired with; 0: none. heads[block]: pairs, and triangles alone.
__global__ void __launch_bounds__(kPairBlock)
    match(const float3* __restrict__ vertices, std::uint32_t vertex_count, const uint3* __restrict__ triangles,
          std::uint32_t count, bool pair, std::int8_t* mates, std::uint32_t* heads, State* state) {
  __shared__ uint3 block[kPairBlock];
  __shared__ std::int8_t mate[kPairBlock];
  const int k = static_cast<int>(threadIdx.x);
  const std::uint32_t first = blockIdx.x * kPairBlock;
  const int here = static_cast<int>(min(static_cast<std::uint32_t>(kPairBlock), count - first));
  if (k < here) {
    uint3 t = triangles[first + k];
    if (t.x >= vertex_count || t.y >= vertex_count || t.z >= vertex_count) {
      atomicOr(&state->bad, 1u);
      t = {0, 0, 0};
    }
    block[k] = t;
  }
  mate[k] = 0;
  __syncthreads();
  for (int reach = 1; pair && reach <= kPairReach; ++reach)
    for (int parity = 0; parity < 2; ++parity) {
      if (k + reach < here && (k / reach) % 2 == parity && mate[k] == 0 && mate[k + reach] == 0 &&
          good_pair(vertices, block[k], block[k + reach])) {
        mate[k] = static_cast<std::int8_t>(reach);
        mate[k + reach] = static_cast<std::int8_t>(-reach);
      }
      __syncthreads();
    }
  const bool head = k < here && mate[k] >= 0;
  const int heads_here = __syncthreads_count(head);
  if (k < here) mates[first + k] = mate[k];
  if (k == 0) heads[blockIdx.x] = static_cast<std::uint32_t>(heads_here);
}

__device__ std::uint64_t spread(std::uint32_t x) {  // bit i to bit 3i; 21 bits
  std::uint64_t v = x;
  v = (v | v << 32) & 0x001F00000000FFFFull;
  v = (v | v << 16) & 0x001F0000FF0000FFull;
  v = (v | v << 8) & 0x100F00F00F00F00Full;
  v = (v | v << 4) & 0x10C30C30C30C30C3ull;
  v = (v | v << 2) & 0x1249249249249249ull;
  return v;
}

// Each pair's numbers, box, and place on the curve.
__global__ void __launch_bounds__(kPairBlock)
    make_pairs(const float3* __restrict__ vertices, const uint3* __restrict__ triangles, std::uint32_t count,
               const std::int8_t* __restrict__ mates, const std::uint32_t* __restrict__ first_of_block, int bits,
               PairIds* ids, Cluster* boxes, std::uint64_t* keys, std::uint32_t* numbers, const State* state) {
  __shared__ std::uint32_t warp_heads[kPairBlock / 32];
  const std::uint32_t t = blockIdx.x * kPairBlock + threadIdx.x;
  const int mate = t < count ? mates[t] : -1;
  const bool head = mate >= 0;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned in_warp = __ballot_sync(kAll, head);
  if (lane == 0) warp_heads[warp] = __popc(in_warp);
  __syncthreads();
  if (!head) return;
  std::uint32_t place = first_of_block[blockIdx.x] + __popc(in_warp & ((1u << lane) - 1u));
  for (unsigned w = 0; w < warp; ++w) place += warp_heads[w];
  const uint3 a = triangles[t];
  Box box = box_of(vertices, a);
  PairIds pair{{t << 2, kNoTriangle}};
  if (mate > 0) {
    const uint3 b = triangles[t + mate];
    int i = 0, j = 0;
    share_edge(a, b, i, j);
    box.add(vertices[corner(b, j)]);
    pair = {{t << 2 | static_cast<unsigned>(i), (t + mate) << 2 | static_cast<unsigned>(next_corner(j))}};
  }
  ids[place] = pair;
  float extent = 0;
  float lower[3];
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
    lower[axis] = unordered(state->lower[axis]);
    extent = fmaxf(extent, unordered(state->upper[axis]) - lower[axis]);
  }
  const float cells = static_cast<float>(1u << bits), scale = extent > 0 ? cells / extent : 0;
  std::uint64_t key = 0;
  Cluster cluster;
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
    cluster.lower[axis] = box.lower[axis];
    cluster.upper[axis] = box.upper[axis];
    const float middle = 0.5f * (box.lower[axis] + box.upper[axis]);
    const float cell = fminf(fmaxf((middle - lower[axis]) * scale, 0.0f), cells - 1);
    key |= spread(static_cast<std::uint32_t>(cell)) << axis;
  }
  cluster.left = place;
  cluster.right = kNone;
  boxes[place] = cluster;
  keys[place] = key;
  numbers[place] = place;
}

// ---- the binary tree ------------------------------------------------------------------------------------------------

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

// How alike two neighbours on the curve are: more is nearer. Equal keys are told apart by position.
__device__ int likeness(const std::uint64_t* keys, std::uint32_t i) {
  const std::uint64_t different = __ldg(keys + i) ^ __ldg(keys + i + 1);
  return different != 0 ? __clzll(static_cast<long long>(different)) : 64 + __clz(static_cast<int>(i ^ (i + 1)));
}

// One warp's clusters, one a lane.
struct Lane {
  std::uint32_t number;  // kNone: none
  std::uint32_t count;   // pairs below, up to 4
  float lower[3], upper[3];
};

__device__ void merge_down(Lane& mine, int& count, int wanted, Cluster* inner, std::uint32_t pairs, State* state,
                           Lane* exchange) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  while (count > wanted) {
    // The neighbour with which the common box is smallest. Both see the same key for a pair of neighbours, and the
    // smallest of all is each other's choice: so something merges.
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

__global__ void __launch_bounds__(kMergeThreads)
    build_binary(const std::uint64_t* __restrict__ keys, std::uint32_t* clusters, const Cluster* __restrict__ boxes,
                 Cluster* inner, std::uint32_t* arrived, std::uint32_t count, State* state) {
  __shared__ Lane exchange_of_block[kMergeThreads];
  Lane* exchange = exchange_of_block + threadIdx.x / 32 * 32;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const std::uint32_t i = blockIdx.x * kMergeThreads + threadIdx.x;
  bool active = i < count;
  std::uint32_t left = i, right = i, split = 0;
  while (__ballot_sync(kAll, active) != 0) {
    if (active) {
      // Up the radix tree: to the neighbour that is more alike. Who comes first leaves, who comes second goes on with
      // both.
      const bool to_right = left == 0 || (right != count - 1 && likeness(keys, right) > likeness(keys, left - 1));
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
      __threadfence();
      __syncwarp();
    }
    if (whole) active = false;
  }
}

// ---- wide nodes -----------------------------------------------------------------------------------------------------

constexpr int kGatherThreads = 128;

struct Gathered {
  std::uint32_t slot[kSlots];  // number and count of what goes into each slot; kNone: nothing
};
// A slot's number has the count of pairs in its two highest bits, less one: 3 stands for more than three.
__device__ std::uint32_t tagged(std::uint32_t number, std::uint32_t count) {
  return number | (count - 1) << 30;
}

struct Totals {
  std::uint32_t inner, pairs;
};

__device__ Totals sum_of_block(Totals mine, Totals& before, Totals* warps) {
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  Totals up_to = mine;
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const std::uint32_t inner = __shfl_up_sync(kAll, up_to.inner, d), pairs = __shfl_up_sync(kAll, up_to.pairs, d);
    if (lane >= d) {
      up_to.inner += inner;
      up_to.pairs += pairs;
    }
  }
  __syncthreads();
  if (lane == 31) warps[warp] = up_to;
  __syncthreads();
  before = {up_to.inner - mine.inner, up_to.pairs - mine.pairs};
  Totals all{0, 0};
#pragma unroll
  for (int w = 0; w < kGatherThreads / 32; ++w) {
    if (w < warp) {
      before.inner += warps[w].inner;
      before.pairs += warps[w].pairs;
    }
    all.inner += warps[w].inner;
    all.pairs += warps[w].pairs;
  }
  return all;
}

struct Tree {
  const Cluster* boxes;
  const Cluster* inner;
  std::uint32_t pairs;
  std::uint32_t leaf_pairs;

  __device__ const Cluster* at(std::uint32_t number) const {
    return number < pairs ? boxes + number : inner + (number - pairs);
  }
};

__device__ Cluster read(const Cluster* cluster) {
  const float4* source = reinterpret_cast<const float4*>(cluster);
  const float4 a = __ldg(source), b = __ldg(source + 1);
  return {{a.x, a.y, a.z}, __float_as_uint(a.w), {b.x, b.y, b.z}, __float_as_uint(b.w)};
}
__device__ std::uint32_t count_of(const Tree& tree, std::uint32_t number, const Cluster& c) {
  return number < tree.pairs ? 1 : 2 + (c.left >> 30);
}
__device__ float half_area(const Cluster& c) {
  const float x = c.upper[0] - c.lower[0], y = c.upper[1] - c.lower[1], z = c.upper[2] - c.lower[2];
  return x * y + y * z + z * x;
}

// What of the binary tree below `root` goes into a wide node, and which slot each part gets.
__device__ Gathered gather(const Tree& tree, std::uint32_t root, Totals& totals) {
  std::uint32_t open[kSlots];
  float area[kSlots];  // negative: is not opened; leaves come after all inner nodes
  std::uint32_t count[kSlots];
#pragma unroll
  for (int i = 0; i < kSlots; ++i) {
    open[i] = kNone;
    area[i] = -1;
    count[i] = 0;
  }
  const Cluster whole = read(tree.at(root));
  open[0] = root;
  count[0] = count_of(tree, root, whole);
  area[0] = count[0] > 1 ? 1e38f : -1.0f;
  int used = 1;
#pragma unroll
  for (int k = 1; k < kSlots; ++k) {
    int best = -1;
    float largest = -1;
    bool largest_inner = false;
#pragma unroll
    for (int i = 0; i < k; ++i) {
      const bool inner = count[i] > tree.leaf_pairs;
      if (area[i] >= 0 && (inner > largest_inner || (inner == largest_inner && area[i] > largest))) {
        best = i;
        largest = area[i];
        largest_inner = inner;
      }
    }
    if (best < 0) break;
    std::uint32_t opened = open[0];
#pragma unroll
    for (int i = 1; i < k; ++i)
      if (i == best) opened = open[i];
    const Cluster c = read(tree.at(opened));
    const std::uint32_t left = c.left & kNumber, right = c.right;
    const Cluster of_left = read(tree.at(left)), of_right = read(tree.at(right));
    const std::uint32_t left_count = count_of(tree, left, of_left);
    const float left_area = left_count > 1 ? half_area(of_left) : -1.0f;
#pragma unroll
    for (int i = 0; i < k; ++i)
      if (i == best) {
        open[i] = left;
        count[i] = left_count;
        area[i] = left_area;
      }
    open[k] = right;
    count[k] = count_of(tree, right, of_right);
    area[k] = count[k] > 1 ? half_area(of_right) : -1.0f;
    used = k + 1;
  }

  // Slots by direction: the part and slot that agree most come first.
  float offset[kSlots][3];
#pragma unroll
  for (int i = 0; i < kSlots; ++i)
    if (i < used) {
      const Cluster c = read(tree.at(open[i]));
#pragma unroll
      for (int a = 0; a < 3; ++a)
        offset[i][a] = 0.5f * (c.lower[a] + c.upper[a]) - 0.5f * (whole.lower[a] + whole.upper[a]);
    }
  std::uint32_t place = 0;  // four bits for each part
  unsigned parts_left = (1u << used) - 1u, slots_left = 0xFFu;
  for (int round = 0; round < used; ++round) {
    float best = -INFINITY;
    int part = -1, slot = 0;
#pragma unroll
    for (int i = 0; i < kSlots; ++i) {
      if ((parts_left >> i & 1) == 0) continue;
#pragma unroll
      for (int s = 0; s < kSlots; ++s) {
        const float agreement = (s & 1 ? offset[i][0] : -offset[i][0]) + (s & 2 ? offset[i][1] : -offset[i][1]) +
                                (s & 4 ? offset[i][2] : -offset[i][2]);
        if ((slots_left >> s & 1) != 0 && (part < 0 || agreement > best)) {
          best = agreement;
          part = i;
          slot = s;
        }
      }
    }
    parts_left &= ~(1u << part);
    slots_left &= ~(1u << slot);
    place |= static_cast<std::uint32_t>(slot) << (4 * part);
  }
  Gathered result;
#pragma unroll
  for (int s = 0; s < kSlots; ++s) result.slot[s] = kNone;
  totals = {0, 0};
#pragma unroll
  for (int i = 0; i < kSlots; ++i)
    if (i < used) {
      const std::uint32_t value = tagged(open[i], count[i]);
#pragma unroll
      for (int s = 0; s < kSlots; ++s)
        if ((place >> (4 * i) & 7u) == static_cast<unsigned>(s)) result.slot[s] = value;
      if (count[i] > tree.leaf_pairs)
        ++totals.inner;
      else
        totals.pairs += count[i];
    }
  return result;
}

// The smallest power of two whose 255 steps span [lower, upper], as a biased exponent; rounded towards the larger.
__device__ std::uint32_t grid_exponent(float lower, float upper) {
  const float step = __fdiv_ru(__fsub_ru(upper, lower), 255.0f);
  const std::uint32_t bits = __float_as_uint(step);
  const std::uint32_t exponent = (bits >> 23) + ((bits & 0x7FFFFFu) != 0 ? 1u : 0u);
  return exponent < 1u ? 1u : exponent;
}

__device__ void write_node(const Tree& tree, std::uint32_t root, const Gathered& children, std::uint32_t first_child,
                           std::uint32_t first_pair, BvhNode* to, std::uint32_t* next, std::uint32_t* order) {
  const Cluster whole = read(tree.at(root));
  std::uint32_t words[20] = {};
  float inverse_step[3];
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    words[a] = __float_as_uint(whole.lower[a]);
    const std::uint32_t exponent = grid_exponent(whole.lower[a], whole.upper[a]);
    words[3] |= exponent << (8 * a);
    inverse_step[a] = __fdiv_rn(1.0f, __uint_as_float(exponent << 23));
  }
  words[4] = first_child;
  words[5] = first_pair;
  std::uint32_t children_done = 0, pairs_done = 0;
#pragma unroll
  for (int s = 0; s < kSlots; ++s) {
    const std::uint32_t value = children.slot[s];
    std::uint32_t low[3] = {255, 255, 255}, high[3] = {0, 0, 0};
    if (value != kNone) {
      const std::uint32_t number = value & kNumber, count = (value >> 30) + 1;
      const Cluster c = read(tree.at(number));
#pragma unroll
      for (int a = 0; a < 3; ++a) {
        // A difference that is rounded outwards, times a power of two.
        const float down = floorf(__fsub_rd(c.lower[a], whole.lower[a]) * inverse_step[a]);
        const float up = ceilf(__fsub_ru(c.upper[a], whole.lower[a]) * inverse_step[a]);
        low[a] = static_cast<std::uint32_t>(fminf(fmaxf(down, 0.0f), 255.0f));
        high[a] = static_cast<std::uint32_t>(fminf(fmaxf(up, 0.0f), 255.0f));
      }
      if (count > tree.leaf_pairs) {
        words[7] |= 1u << (4 * s);
        next[first_child + children_done++] = number;
      } else {
        words[6] |= ((1u << count) - 1u) << (4 * s);
        if (count == 1) {
          order[first_pair + pairs_done++] = number;
        } else {
          order[first_pair + pairs_done++] = c.left & kNumber;
          order[first_pair + pairs_done++] = c.right;
        }
      }
    }
#pragma unroll
    for (int a = 0; a < 3; ++a) {
      words[8 + 2 * a + s / 4] |= low[a] << (8 * (s % 4));
      words[14 + 2 * a + s / 4] |= high[a] << (8 * (s % 4));
    }
  }
  uint4* target = reinterpret_cast<uint4*>(to);
#pragma unroll
  for (int k = 0; k < 5; ++k)
    target[k] = make_uint4(words[4 * k], words[4 * k + 1], words[4 * k + 2], words[4 * k + 3]);
}

// All levels in one launch. `roots[i]` is the binary node of wide node i: it is written when the node's parent is.
__global__ void __launch_bounds__(kGatherThreads)
    gather_all(Tree tree, std::uint32_t* roots, Gathered* gathered, BvhNode* nodes, std::uint32_t* order, Totals* sums,
               State* state) {
  const cg::grid_group grid = cg::this_grid();
  __shared__ Totals warps[kGatherThreads / 32];
  std::uint32_t begin = 0, end = 1, pairs = 0;
  int level = 0;
  if (blockIdx.x == 0 && threadIdx.x == 0) roots[0] = state->root;
  grid.sync();
  while (begin < end) {
    if (level == kBvhMaxDepth) {
      level = kBvhMaxDepth + 1;
      break;
    }
    // Each block has a run of the level's nodes.
    const std::uint32_t count = end - begin;
    const std::uint32_t tiles = (count + kGatherThreads - 1) / kGatherThreads;
    const std::uint32_t tiles_each = (tiles + gridDim.x - 1) / gridDim.x;
    const std::uint32_t mine = begin + min(blockIdx.x * tiles_each * kGatherThreads, count);
    const std::uint32_t mine_end = begin + min((blockIdx.x + 1) * tiles_each * kGatherThreads, count);
    Totals sum{0, 0};
    for (std::uint32_t tile = mine; tile < mine_end; tile += kGatherThreads) {
      const std::uint32_t i = tile + threadIdx.x;
      if (i >= mine_end) continue;
      Totals totals;
      gathered[i - begin] = gather(tree, __ldcg(roots + i), totals);
      sum.inner += totals.inner;
      sum.pairs += totals.pairs;
    }
    Totals ignored;
    const Totals of_block = sum_of_block(sum, ignored, warps);
    if (threadIdx.x == 0) sums[blockIdx.x] = of_block;
    grid.sync();
    // What other blocks write before this one, and all of them.
    Totals before{0, 0}, all{0, 0};
    for (std::uint32_t b = threadIdx.x; b < gridDim.x; b += kGatherThreads) {
      const std::uint32_t inner = __ldcg(&sums[b].inner), of_pairs = __ldcg(&sums[b].pairs);
      all.inner += inner;
      all.pairs += of_pairs;
      if (b < blockIdx.x) {
        before.inner += inner;
        before.pairs += of_pairs;
      }
    }
    const Totals total = sum_of_block(all, ignored, warps);
    const Totals block_before = sum_of_block(before, ignored, warps);
    std::uint32_t child = end + block_before.inner, pair = pairs + block_before.pairs;
    for (std::uint32_t tile = mine; tile < mine_end; tile += kGatherThreads) {
      const std::uint32_t i = tile + threadIdx.x;
      Totals own{0, 0}, own_before;
      Gathered children;
      if (i < mine_end) {
        children = gathered[i - begin];
#pragma unroll
        for (int s = 0; s < kSlots; ++s)
          if (children.slot[s] != kNone) {
            const std::uint32_t below = (children.slot[s] >> 30) + 1;
            if (below > tree.leaf_pairs)
              ++own.inner;
            else
              own.pairs += below;
          }
      }
      const Totals of_tile = sum_of_block(own, own_before, warps);
      if (i < mine_end)
        write_node(tree, __ldcg(roots + i), children, child + own_before.inner, pair + own_before.pairs, nodes + i,
                   roots, order);
      child += of_tile.inner;
      pair += of_tile.pairs;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) state->level_ends[level] = end;
    begin = end;
    end += total.inner;
    pairs += total.pairs;
    ++level;
    grid.sync();
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) state->levels = level;
}

// The leaves' vertices, in the order of the leaves.
__global__ void write_pairs(const float3* __restrict__ vertices, const uint3* __restrict__ triangles,
                            const PairIds* __restrict__ unordered_ids, const std::uint32_t* __restrict__ order,
                            std::uint32_t count, TrianglePair* pairs, PairIds* ids) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const PairIds pair = unordered_ids[order[i]];
  const uint3 a = triangles[pair.triangle[0] >> 2];
  const int r = static_cast<int>(pair.triangle[0] & 3u);
  const float3 v0 = vertices[corner(a, r)], v1 = vertices[corner(a, next_corner(r))],
               v2 = vertices[corner(a, next_corner(next_corner(r)))];
  float3 v3 = v2;
  if (pair.triangle[1] != kNoTriangle) {
    const uint3 b = triangles[pair.triangle[1] >> 2];
    v3 = vertices[corner(b, next_corner(next_corner(static_cast<int>(pair.triangle[1] & 3u))))];
  }
  float4* target = reinterpret_cast<float4*>(pairs + i);
  target[0] = make_float4(v0.x, v0.y, v0.z, v1.x);
  target[1] = make_float4(v1.y, v1.z, v2.x, v2.y);
  target[2] = make_float4(v2.z, v3.x, v3.y, v3.z);
  ids[i] = pair;
}

// ---- the host's side ------------------------------------------------------------------------------------------------

template <class T>
T* take(BuildMemory& memory, std::size_t count) {
  return static_cast<T*>(memory.scratch((count == 0 ? 1 : count) * sizeof(T)));
}

// Blocks of a cooperative launch: no more than there is work for, as each waits for all.
unsigned cooperative_blocks(std::size_t most_nodes) {
  int device = 0, multiprocessors = 0, each = 0;
  check(cudaGetDevice(&device), "asking for the device");
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device), "asking for the device");
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, gather_all, kGatherThreads, 0), "asking for occupancy");
  const std::size_t resident =
      static_cast<std::size_t>(multiprocessors) * (each < 1 ? 1u : static_cast<unsigned>(each));
  const std::size_t useful = most_nodes / (2 * kGatherThreads) + 1;
  return static_cast<unsigned>(useful < resident ? useful : resident);
}

// Bits per axis of the curve: a surface of that many pairs fills a plane of cells; four times as many along each axis
// part what lies close.
int curve_bits(std::uint32_t pairs) {
  int bits = 6;
  while (bits < 20 && std::uint64_t{1} << (2 * (bits - 2)) < pairs) ++bits;
  return bits;
}

}  // namespace

BuildOutcome build_bvh_on_device(const BuildInput& input, void* on, BuildMemory& memory,
                                 std::vector<std::uint32_t>& level_ends) {
  const auto stream = static_cast<cudaStream_t>(on);
  const std::uint32_t triangles = input.triangle_count;
  const std::uint32_t blocks = (triangles + kPairBlock - 1) / kPairBlock;
  State* state = take<State>(memory, 1);
  auto* mates = take<std::int8_t>(memory, triangles);
  auto* heads = take<std::uint32_t>(memory, blocks + 1);
  auto* first_of_block = take<std::uint32_t>(memory, blocks + 1);
  std::size_t scan_bytes = 0;
  const auto scan = [&](void* scratch) {
    check(
        cub::DeviceScan::ExclusiveSum(scratch, scan_bytes, heads, first_of_block, static_cast<int>(blocks + 1), stream),
        "counting pairs");
  };
  scan(nullptr);
  char* scan_scratch = take<char>(memory, scan_bytes);

  reset<<<1, 1, 0, stream>>>(state);
  check(cudaMemsetAsync(heads + blocks, 0, sizeof(std::uint32_t), stream), "clearing memory");
  const std::size_t coordinates = std::size_t{input.vertex_count} * 3;
  const std::size_t wanted = (coordinates + 255) / 256;
  const auto bound_blocks = static_cast<unsigned>((wanted < 3 ? 3 : wanted > 1056 ? 1056 : wanted) / 3 * 3);
  bound_vertices<<<bound_blocks, 256, 0, stream>>>(reinterpret_cast<const float*>(input.vertices), coordinates, state);
  match<<<blocks, kPairBlock, 0, stream>>>(input.vertices, input.vertex_count, input.triangles, triangles,
                                           input.pair_triangles, mates, heads, state);
  scan(scan_scratch);
  check(
      cudaMemcpyAsync(&state->pairs, first_of_block + blocks, sizeof(std::uint32_t), cudaMemcpyDeviceToDevice, stream),
      "counting pairs");
  State seen;
  const auto look = [&] {
    check(cudaGetLastError(), "building a hierarchy");
    check(cudaMemcpyAsync(&seen, state, sizeof seen, cudaMemcpyDeviceToHost, stream), "building a hierarchy");
    check(cudaStreamSynchronize(stream), "building a hierarchy");
  };
  look();
  // What the host's builder refuses, and says why.
  float extent = 0;
  for (int a = 0; a < 3; ++a) extent = fmaxf(extent, unordered(seen.upper[a]) - unordered(seen.lower[a]));
  if (seen.bad != 0 || (extent > 0 && extent < 0x1p-49f)) return BuildOutcome::bad_input;

  const std::uint32_t pairs = seen.pairs;
  auto* unordered_ids = take<PairIds>(memory, pairs);
  auto* boxes = take<Cluster>(memory, pairs);
  auto* inner = take<Cluster>(memory, pairs);
  auto* keys = take<std::uint64_t>(memory, std::size_t{pairs} * 2);
  auto* numbers = take<std::uint32_t>(memory, std::size_t{pairs} * 2);
  const int bits = curve_bits(pairs);
  make_pairs<<<blocks, kPairBlock, 0, stream>>>(input.vertices, input.triangles, triangles, mates, first_of_block, bits,
                                                unordered_ids, boxes, keys, numbers, state);
  cub::DoubleBuffer<std::uint64_t> key_buffers(keys, keys + pairs);
  cub::DoubleBuffer<std::uint32_t> number_buffers(numbers, numbers + pairs);
  std::size_t sort_bytes = 0;
  const auto sort = [&](void* scratch) {
    check(cub::DeviceRadixSort::SortPairs(scratch, sort_bytes, key_buffers, number_buffers,
                                          static_cast<std::int64_t>(pairs), 0, 3 * bits, stream),
          "sorting pairs");
  };
  sort(nullptr);
  sort(take<char>(memory, sort_bytes));

  std::uint32_t* arrived = number_buffers.Alternate();
  check(cudaMemsetAsync(arrived, 0xFF, std::size_t{pairs} * sizeof(std::uint32_t), stream), "clearing memory");
  if (pairs > 1)  // otherwise the root is pair 0
    build_binary<<<(pairs + kMergeThreads - 1) / kMergeThreads, kMergeThreads, 0, stream>>>(
        key_buffers.Current(), number_buffers.Current(), boxes, inner, arrived, pairs, state);

  // A node that is not full has no inner children, and holds more pairs than a leaf: so with n full ones there are up
  // to 7n + 1 others, which bounds the number of all.
  const std::size_t most_nodes = std::size_t{pairs} * 8 / (7 * (input.leaf_pairs + 1)) + 2;
  const unsigned grid = cooperative_blocks(most_nodes);
  auto* roots = take<std::uint32_t>(memory, most_nodes);
  auto* gathered = take<Gathered>(memory, most_nodes);
  auto* nodes = take<BvhNode>(memory, most_nodes);
  auto* order = take<std::uint32_t>(memory, pairs);
  auto* sums = take<Totals>(memory, grid);
  Tree tree{boxes, inner, pairs, input.leaf_pairs};
  void* arguments[] = {&tree, &roots, &gathered, &nodes, &order, &sums, &state};
  check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&gather_all), dim3(grid), dim3(kGatherThreads),
                                    arguments, 0, stream),
        "gathering wide nodes");
  write_pairs<<<(pairs + 255) / 256, 256, 0, stream>>>(input.vertices, input.triangles, unordered_ids, order, pairs,
                                                       memory.pairs(pairs), memory.ids(pairs));
  look();
  if (seen.levels > kBvhMaxDepth) return BuildOutcome::too_deep;
  level_ends.assign(seen.level_ends, seen.level_ends + seen.levels);
  const std::size_t node_count = level_ends.back();
  check(
      cudaMemcpyAsync(memory.nodes(node_count), nodes, node_count * sizeof(BvhNode), cudaMemcpyDeviceToDevice, stream),
      "keeping wide nodes");
  return BuildOutcome::built;
}

}  // namespace raylift::cuda
