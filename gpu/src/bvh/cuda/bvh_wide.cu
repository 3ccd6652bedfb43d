// SPDX-License-Identifier: Apache-2.0
// Wide nodes, gathered top-down out of the binary tree, level by level. Everything that is written gets its place by
// prefix sums.
#include <cooperative_groups.h>

#include <cub/block/block_scan.cuh>

#include "bvh_phases.h"

namespace raylift::inline v0_1::cuda {
namespace {

namespace cg = cooperative_groups;

constexpr int kSlots = 8;
constexpr int kGatherThreads = 128;

struct Gathered {
  std::uint32_t slot[kSlots];  // number and count of what goes into each slot; kNone: nothing
};
// A slot's number has the count of pairs in its two highest bits, less one: 3 stands for more than three.
__device__ std::uint32_t tagged(std::uint32_t number, std::uint32_t count) {
  return number | (count - 1) << 30;
}

/// Wide nodes and pairs below some nodes.
struct Totals {
  std::uint32_t inner, pairs;
  __device__ Totals operator+(const Totals& other) const { return {inner + other.inner, pairs + other.pairs}; }
};
struct Add {
  __device__ Totals operator()(const Totals& a, const Totals& b) const { return a + b; }
};
using Scan = cub::BlockScan<Totals, kGatherThreads>;

// The sum over the block; `before` becomes that over the threads before this one.
__device__ Totals sum_of_block(const Totals& mine, Totals& before, Scan::TempStorage& storage) {
  Totals all;
  __syncthreads();  // whoever uses the storage still
  Scan(storage).ExclusiveScan(mine, before, Totals{0, 0}, Add{}, all);
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

// What of the binary tree below `root` goes into a wide node, and how many pairs are below each of these; returns how
// many there are. Unused ones are kNone.
__device__ __forceinline__ int open_clusters(const Tree& tree, std::uint32_t root, const Cluster& whole,
                                             std::uint32_t (&open)[kSlots], std::uint32_t (&count)[kSlots]) {
  float area[kSlots];  // negative: is not opened; leaves come after all inner nodes
#pragma unroll
  for (int i = 0; i < kSlots; ++i) {
    open[i] = kNone;
    area[i] = -1;
    count[i] = 0;
  }
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
  return used;
}

// The slot of each part, four bits each, by direction: the part and slot that agree most come first.
__device__ __forceinline__ std::uint32_t choose_slots(const Tree& tree, const Cluster& whole,
                                                      const std::uint32_t (&open)[kSlots], int used) {
  float offset[kSlots][3];
#pragma unroll
  for (int i = 0; i < kSlots; ++i)
    if (i < used) {
      const Cluster c = read(tree.at(open[i]));
#pragma unroll
      for (int a = 0; a < 3; ++a)
        offset[i][a] = 0.5f * (c.lower[a] + c.upper[a]) - 0.5f * (whole.lower[a] + whole.upper[a]);
    }
  std::uint32_t place = 0;
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
  return place;
}

__device__ Gathered gather(const Tree& tree, std::uint32_t root, Totals& totals) {
  const Cluster whole = read(tree.at(root));
  std::uint32_t open[kSlots], count[kSlots];
  const int used = open_clusters(tree, root, whole, open, count);
  const std::uint32_t place = choose_slots(tree, whole, open, used);
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

// A child's box on the grid of its parent's. A difference is rounded outwards; then it is multiplied by a power of two.
__device__ __forceinline__ void quantize(const Cluster& child, const Cluster& whole, const float (&inverse_step)[3],
                                         std::uint32_t (&low)[3], std::uint32_t (&high)[3]) {
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    const float down = floorf(__fsub_rd(child.lower[a], whole.lower[a]) * inverse_step[a]);
    const float up = ceilf(__fsub_ru(child.upper[a], whole.lower[a]) * inverse_step[a]);
    low[a] = static_cast<std::uint32_t>(fminf(fmaxf(down, 0.0f), 255.0f));
    high[a] = static_cast<std::uint32_t>(fminf(fmaxf(up, 0.0f), 255.0f));
  }
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
      quantize(c, whole, inverse_step, low, high);
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

// What of a level a block works on.
struct Run {
  std::uint32_t begin, end;
};
__device__ Run run_of_block(std::uint32_t begin, std::uint32_t end) {
  const std::uint32_t count = end - begin;
  const std::uint32_t tiles = (count + kGatherThreads - 1) / kGatherThreads;
  const std::uint32_t size = (tiles + gridDim.x - 1) / gridDim.x * kGatherThreads;
  return {begin + min(blockIdx.x * size, count), begin + min((blockIdx.x + 1) * size, count)};
}

// What other blocks write before this one; `total` becomes what all of them do.
__device__ Totals sum_before_block(const Totals* sums, Totals& total, Scan::TempStorage& storage) {
  Totals before{0, 0}, all{0, 0}, ignored;
  for (std::uint32_t b = threadIdx.x; b < gridDim.x; b += kGatherThreads) {
    const Totals of_block{__ldcg(&sums[b].inner), __ldcg(&sums[b].pairs)};
    all = all + of_block;
    if (b < blockIdx.x) before = before + of_block;
  }
  total = sum_of_block(all, ignored, storage);
  return sum_of_block(before, ignored, storage);
}

__device__ Totals totals_of(const Gathered& children, std::uint32_t leaf_pairs) {
  Totals totals{0, 0};
#pragma unroll
  for (int s = 0; s < kSlots; ++s)
    if (children.slot[s] != kNone) {
      const std::uint32_t below = (children.slot[s] >> 30) + 1;
      if (below > leaf_pairs)
        ++totals.inner;
      else
        totals.pairs += below;
    }
  return totals;
}

// All levels in one launch. `roots[i]` is the binary node of wide node i: it is written when the node's parent is.
__global__ void __launch_bounds__(kGatherThreads)
    gather_all(Tree tree, std::uint32_t* roots, Gathered* gathered, BvhNode* nodes, std::uint32_t* order, Totals* sums,
               BuildState* state) {
  const cg::grid_group grid = cg::this_grid();
  __shared__ Scan::TempStorage storage;
  std::uint32_t begin = 0, end = 1, pairs = 0;
  int level = 0;
  if (blockIdx.x == 0 && threadIdx.x == 0) roots[0] = state->root;
  grid.sync();
  while (begin < end) {
    if (level == kBvhMaxDepth) {
      level = kBvhMaxDepth + 1;
      break;
    }
    const Run run = run_of_block(begin, end);
    Totals sum{0, 0}, ignored, total;
    for (std::uint32_t i = run.begin + threadIdx.x; i < run.end; i += kGatherThreads) {
      Totals totals;
      gathered[i - begin] = gather(tree, __ldcg(roots + i), totals);
      sum = sum + totals;
    }
    sum = sum_of_block(sum, ignored, storage);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
    grid.sync();
    Totals next = sum_before_block(sums, total, storage) + Totals{end, pairs};
    for (std::uint32_t tile = run.begin; tile < run.end; tile += kGatherThreads) {
      const std::uint32_t i = tile + threadIdx.x;
      Totals own{0, 0}, before;
      Gathered children;
      if (i < run.end) {
        children = gathered[i - begin];
        own = totals_of(children, tree.leaf_pairs);
      }
      const Totals of_tile = sum_of_block(own, before, storage);
      before = before + next;
      if (i < run.end)
        write_node(tree, __ldcg(roots + i), children, before.inner, before.pairs, nodes + i, roots, order);
      next = next + of_tile;
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

}  // namespace

WideNodes gather_wide_nodes(const Build& build, const SortedPairs& pairs, const Cluster* inner) {
  // A node that is not full has no inner children, and holds more pairs than a leaf: so with n full ones there are up
  // to 7n + 1 others, which bounds the number of all.
  const std::size_t most_nodes = std::size_t{pairs.count} * 8 / (7 * (build.input.leaf_pairs + 1)) + 2;
  const unsigned grid = cooperative_blocks(most_nodes);
  auto* roots = build.take<std::uint32_t>(most_nodes);
  auto* gathered = build.take<Gathered>(most_nodes);
  auto* nodes = build.take<BvhNode>(most_nodes);
  auto* order = build.take<std::uint32_t>(pairs.count);
  auto* sums = build.take<Totals>(grid);
  Tree tree{pairs.boxes, inner, pairs.count, build.input.leaf_pairs};
  BuildState* state = build.state;
  void* arguments[] = {&tree, &roots, &gathered, &nodes, &order, &sums, &state};
  check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&gather_all), dim3(grid), dim3(kGatherThreads),
                                    arguments, 0, build.stream),
        "gathering wide nodes");
  return {nodes, order};
}

}  // namespace raylift::inline v0_1::cuda
