// SPDX-License-Identifier: Apache-2.0
// Which clusters of the binary tree go into which wide nodes: gathered top-down, level by level, by the choices that
// were made with the costs. Eight lanes work on a node, one for each slot. Everything gets its place by prefix sums.
#include <cooperative_groups.h>

#include <algorithm>
#include <cub/block/block_scan.cuh>

#include "bvh_phases.h"

namespace raylift::inline v0_1::cuda {
namespace {

namespace cg = cooperative_groups;

constexpr int kThreads = 512;
constexpr int kBlocksEach = 2;                 // of a multiprocessor: few, as each waits for all
constexpr unsigned kTile = kThreads / kSlots;  // nodes that a block works on at a time
constexpr unsigned kLeast = 32 / kSlots;       // and a warp

struct Add {
  __device__ Totals operator()(const Totals& a, const Totals& b) const {
    return {a.inner + b.inner, a.pairs + b.pairs};
  }
};
using Scan = cub::BlockScan<Totals, kThreads>;

// The sum over the block; `before` becomes that over the threads before this one.
__device__ Totals sum_of_block(const Totals& mine, Totals& before, Scan::TempStorage& storage) {
  Totals all;
  __syncthreads();  // whoever uses the storage still
  Scan(storage).ExclusiveScan(mine, before, Totals{0, 0}, Add{}, all);
  return all;
}

// This thread's lane among the eight of its node.
__device__ unsigned slot_lane() {
  return threadIdx.x % kSlots;
}
// Of eight lanes, those for which it holds, as bits.
__device__ unsigned ballot_of_node(bool holds) {
  return __ballot_sync(kAll, holds) >> (threadIdx.x % 32 & ~7u) & 0xFFu;
}
// The first of eight lanes with the largest rank, and that rank.
__device__ std::uint32_t largest_of_node(std::uint32_t rank, unsigned& lane) {
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
__device__ Part open(const Tree& tree, Part part) {
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
__device__ unsigned choose_slot(const Part& part, bool inner, const Cluster& whole) {
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

// This lane's share of a node and of its slots.
__device__ Totals gather(const Tree& tree, std::uint32_t root, bool active, SlotNumbers* slots) {
  Part part;
  if (active) part = Part(tree, root, kSlots);
  const Cluster whole = part.cluster;
  if (slot_lane() != 0) part = Part();
  part = open(tree, part);
  const bool inner = part.pairs != 0 && !part.leaf;
  const unsigned slot = choose_slot(part, inner, whole);
  if (active) slots->of[slot] = part.pairs == 0 ? kNone : part.number | (inner ? 3 : part.pairs - 1) << 30;
  return {inner ? 1u : 0u, inner ? 0u : part.pairs};
}

/// What of a level a block works on, of so many.
struct Run {
  std::uint32_t begin, end;
};
__device__ Run run_of_block(std::uint32_t begin, std::uint32_t end, unsigned block, unsigned blocks) {
  const std::uint32_t count = end - begin;
  const std::uint32_t size = ((count + kLeast - 1) / kLeast + blocks - 1) / blocks * kLeast;
  return {begin + min(block * size, count), begin + min((block + 1) * size, count)};
}

// What blocks before this one have; `total` becomes what all of them do.
__device__ Totals sum_before_block(const Totals* sums, unsigned block, unsigned blocks, Totals& total,
                                   Scan::TempStorage& storage) {
  Totals before{0, 0}, all{0, 0}, ignored;
  for (std::uint32_t b = threadIdx.x; b < blocks; b += kThreads) {
    const Totals of_block{__ldcg(&sums[b].inner), __ldcg(&sums[b].pairs)};
    all = Add{}(all, of_block);
    if (b < block) before = Add{}(before, of_block);
  }
  total = sum_of_block(all, ignored, storage);
  return sum_of_block(before, ignored, storage);
}

struct Arrays {
  std::size_t most;  // nodes
  std::uint32_t* roots;
  SlotNumbers* slots;
  Totals* first;
  Totals* sums;  // of each block
  std::uint32_t* order;
};

// One level, by `blocks` blocks that meet() brings together. A node's root is known once its parent has its place.
template <class Meet>
__device__ void gather_level(const Tree& tree, const Arrays& to, LevelsDone& done, unsigned block, unsigned blocks,
                             const Meet& meet, Scan::TempStorage& storage, BuildState* state) {
  const unsigned lane = slot_lane(), node_of_tile = threadIdx.x / kSlots;
  const std::uint32_t end = done.known.inner;
  const Run run = run_of_block(done.begin, end, block, blocks);
  Totals sum{0, 0}, ignored, total;
  for (std::uint32_t tile = run.begin; tile < run.end; tile += kTile) {
    const std::uint32_t i = tile + node_of_tile;
    const bool active = i < run.end;
    if (!__any_sync(kAll, active)) break;
    sum = Add{}(sum, gather(tree, active ? __ldcg(to.roots + i) : 0, active, to.slots + i));
  }
  sum = sum_of_block(sum, ignored, storage);
  if (threadIdx.x == 0) to.sums[block] = sum;
  meet();
  Totals next = Add{}(sum_before_block(to.sums, block, blocks, total, storage), done.known);
  if (total.inner > to.most - done.known.inner) {
    done.level = kBvhMaxDepth + 1;
    return;
  }
  for (std::uint32_t tile = run.begin; tile < run.end; tile += kTile) {
    const std::uint32_t i = tile + node_of_tile;
    const std::uint32_t value = i < run.end ? to.slots[i].of[lane] : kNone;
    const std::uint32_t pairs = value == kNone ? 0 : (value >> 30) + 1;
    const bool inner = pairs > tree.leaf_pairs;
    Totals before;
    const Totals of_tile = sum_of_block({inner ? 1u : 0u, inner ? 0u : pairs}, before, storage);
    before = Add{}(before, next);
    if (inner) to.roots[before.inner] = value & kNumber;
    if (!inner && pairs == 1) to.order[before.pairs] = value & kNumber;
    if (!inner && pairs == 2) {
      const Cluster both = tree.at(value & kNumber);
      to.order[before.pairs] = both.left & kNumber;
      to.order[before.pairs + 1] = both.right;
    }
    if (lane == 0 && i < run.end) to.first[i] = before;
    next = Add{}(next, of_tile);
  }
  if (block == 0 && threadIdx.x == 0) state->level_ends[done.level] = end;
  done = {Add{}(done.known, total), end, done.level + 1};
  meet();
}

// All levels in one launch. The first ones, of few nodes, by one block, as it takes long until all blocks meet.
__global__ void __launch_bounds__(kThreads, kBlocksEach) gather_all(Tree tree, Arrays to, BuildState* state) {
  const cg::grid_group grid = cg::this_grid();
  __shared__ Scan::TempStorage storage;
  LevelsDone done{{1, 0}, 0, 0};
  const auto goes_on = [&] { return done.begin < done.known.inner && done.level < kBvhMaxDepth; };
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) to.roots[0] = state->root;
    __syncthreads();
    while (goes_on() && done.known.inner - done.begin <= kTile)
      gather_level(
          tree, to, done, 0, 1, [] { __syncthreads(); }, storage, state);
    if (threadIdx.x == 0) state->done_by_one = done;
  }
  grid.sync();
  if (blockIdx.x != 0) {
    const volatile LevelsDone& by_one = state->done_by_one;
    done = {{by_one.known.inner, by_one.known.pairs}, by_one.begin, by_one.level};
  }
  while (goes_on())
    gather_level(
        tree, to, done, blockIdx.x, gridDim.x, [&] { grid.sync(); }, storage, state);
  if (blockIdx.x == 0 && threadIdx.x == 0)
    state->levels = done.begin < done.known.inner ? kBvhMaxDepth + 1 : done.level;
}

}  // namespace

WideNodes gather_wide_nodes(const Build& build, const SortedPairs& pairs, const BinaryNodes& inner) {
  // A bound, if only nodes without inner children have free slots: n full nodes have at most 7n + 1 of those, each with
  // more pairs than a leaf. Other nodes seldom have free slots. A tree with more nodes than this is built on the host.
  const std::size_t most_nodes = std::size_t{pairs.count} * 8 / (7 * (build.input.leaf_pairs + 1)) + 2;
  // Of a cooperative launch, no more blocks than there is work for.
  const auto grid =
      static_cast<unsigned>(std::min<std::size_t>(most_nodes / kLeast + 1, resident_blocks(gather_all, kThreads)));
  Arrays to{most_nodes,
            build.take<std::uint32_t>(most_nodes),
            build.take<SlotNumbers>(most_nodes),
            build.take<Totals>(most_nodes),
            build.take<Totals>(grid),
            build.take<std::uint32_t>(pairs.count)};
  Tree tree{pairs.boxes, inner.clusters, inner.costs, pairs.count, build.input.leaf_pairs};
  BuildState* state = build.state;
  void* arguments[] = {&tree, &to, &state};
  check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&gather_all), dim3(grid), dim3(kThreads), arguments,
                                    0, build.stream),
        "gathering wide nodes");
  return {most_nodes, to.roots, to.slots, to.first, to.order};
}

}  // namespace raylift::inline v0_1::cuda
