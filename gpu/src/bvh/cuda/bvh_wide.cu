// SPDX-License-Identifier: Apache-2.0
// Wide nodes: which clusters of the binary tree go into which, by the choices that were made with the costs, and the
// nodes as rays read them.
//
// Nodes are numbered level by level. That is the order of a queue: a node's inner children are appended when its turn
// comes. Blocks take tiles of the queue in that order. How many children and pairs come before a tile is found by
// looking back at the tiles before it, as in Merrill, Garland, "Single-pass Parallel Prefix Scan with Decoupled
// Look-back" (NVIDIA, 2016): blocks wait for what they need, never for all others. Eight lanes work on a node, one for
// each slot.
#include <algorithm>

#include "bvh_open.h"

namespace raylift::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocksEach = 4;                 // of a multiprocessor
constexpr unsigned kTile = kThreads / kSlots;  // nodes
static_assert(kTile <= 32);                    // one warp adds up a tile

/// Children and pairs of one node, of some nodes, or of all nodes up to one.
struct Sum {
  std::uint64_t bits = 0;  // pairs in the lower 31, children above

  Sum() = default;
  __device__ explicit Sum(Totals totals) : bits(std::uint64_t{totals.inner} << 31 | totals.pairs) {}
  [[nodiscard]] __device__ Totals totals() const {
    return {static_cast<std::uint32_t>(bits >> 31), static_cast<std::uint32_t>(bits & 0x7FFFFFFFu)};
  }
  __device__ void add(Sum other) { bits += other.bits; }
};

/// What is known of a tile: nothing yet, its own sum, or that of all nodes up to its last one. One word, so that it is
/// written and read at once.
class TileSum {
 public:
  __device__ void publish_own(Sum sum) volatile { word_ = kOwn | sum.bits; }
  __device__ void publish_all(Sum sum) volatile { word_ = kAllBefore | sum.bits; }

  struct Seen {
    std::uint64_t word;
    [[nodiscard]] __device__ bool known() const { return word != 0; }
    [[nodiscard]] __device__ bool of_all() const { return (word & kAllBefore) != 0; }
    [[nodiscard]] __device__ Sum sum() const {
      Sum result;
      result.bits = word & (kOwn - 1);
      return result;
    }
  };
  [[nodiscard]] __device__ Seen look() const volatile { return {word_}; }

 private:
  static constexpr std::uint64_t kOwn = std::uint64_t{1} << 62, kAllBefore = std::uint64_t{1} << 63;
  std::uint64_t word_;
};

/// The queue of nodes. roots[i] is the number of node i's binary node plus 1; 0: not written yet.
struct Queue {
  std::uint32_t most;  // nodes
  std::uint32_t* roots;
  TileSum* sums;
  bvh_detail::BvhNode* nodes;
  std::uint32_t* order;
};

// The sum over all tiles before `tile`, by one warp.
__device__ Sum sum_before(const Queue& queue, std::uint32_t tile) {
  const unsigned lane = threadIdx.x % 32;
  Sum before;
  for (std::uint32_t end = tile;; end -= 32) {
    TileSum::Seen seen{};
    if (lane < end) {
      const volatile TileSum& sum = queue.sums[end - 1 - lane];
      while (!(seen = sum.look()).known()) __nanosleep(20);
    }
    __syncwarp();
    const unsigned of_all = __ballot_sync(kAll, seen.of_all());
    Sum part;
    if (of_all == 0 || lane <= static_cast<unsigned>(__ffs(static_cast<int>(of_all))) - 1) part = seen.sum();
#pragma unroll
    for (int apart = 16; apart != 0; apart /= 2) part.bits += __shfl_xor_sync(kAll, part.bits, apart);
    before.add(part);
    if (of_all != 0) return before;
  }
}

/// The state of a block's tile before the block begins.
struct Start {
  std::uint32_t ready;  // nodes of the queue that have their roots, or soon will; up to the tile's end
  bool counted;         // `before` is known
  Totals before;
};

// Waits until the tile's last root is written, or until all tiles before it are complete: then some nodes of the tile
// may be below others of it, or there are no more.
__device__ Start wait_for(const Queue& queue, std::uint32_t tile, std::uint32_t end, const BuildState* state) {
  if (tile == 0) return {1, true, {1, 0}};
  const volatile std::uint32_t& last = queue.roots[end - 1];
  const volatile std::uint32_t& all = state->wide_nodes;
  const volatile TileSum& sum = queue.sums[tile - 1];
  while (true) {
    if (const TileSum::Seen seen = sum.look(); seen.of_all()) {
      const Totals before = seen.sum().totals();
      return {min(before.inner, end), true, before};
    }
    if (last != 0) return {end, false, {0, 0}};
    if (const std::uint32_t count = all; count != 0 && count <= tile * kTile) return {count, true, {0, 0}};
    __nanosleep(20);
  }
}

/// A node under construction.
struct Node {
  Cluster whole;
  Part part;  // this lane's
  unsigned slot;
  std::uint32_t inner_bits, pair_bits;  // as BvhNode has them, of all lanes
  bool inner;

  [[nodiscard]] __device__ Totals totals() const {
    return {static_cast<std::uint32_t>(__popc(inner_bits)), static_cast<std::uint32_t>(__popc(pair_bits))};
  }
};

// By eight lanes.
__device__ std::uint32_t or_of_node(std::uint32_t bits) {
#pragma unroll
  for (int apart = 4; apart != 0; apart /= 2) bits |= __shfl_xor_sync(kAll, bits, apart);
  return bits;
}

__device__ Node gather(const Tree& tree, std::uint32_t root, bool active) {
  Node node;
  if (active) node.part = Part(tree, root, kSlots);
  node.whole = node.part.cluster;
  if (slot_lane() != 0) node.part = Part();
  node.part = open(tree, node.part);
  const bool used = node.part.pairs != 0;
  node.inner = used && !node.part.leaf;
  node.slot = choose_slot(node.part, node.inner, node.whole);
  node.inner_bits = or_of_node(node.inner ? 1u << 4 * node.slot : 0u);
  node.pair_bits = or_of_node(used && !node.inner ? ((1u << node.part.pairs) - 1) << 4 * node.slot : 0u);
  return node;
}

// This lane's child or pairs get their places: where `before` children and pairs precede the node's own.
__device__ void append(const Tree& tree, const Queue& queue, const Node& node, Totals before) {
  const std::uint32_t below = (1u << 4 * node.slot) - 1;
  if (node.inner) {
    const std::uint32_t child = before.inner + __popc(node.inner_bits & below);
    if (child < queue.most) *static_cast<volatile std::uint32_t*>(queue.roots + child) = node.part.number + 1;
  } else if (node.part.pairs != 0) {
    std::uint32_t* const to = queue.order + before.pairs + __popc(node.pair_bits & below);
    if (node.part.pairs == 1) {
      to[0] = node.part.number;
    } else {
      to[0] = node.part.cluster.left & kNumber;
      to[1] = node.part.cluster.right;
    }
  }
}

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

// Writes the node except first_child and first_pair. Each lane writes to the slot of its part, and those without one to
// the slots that are left, as empty ones.
__device__ void encode(const Node& node, bvh_detail::BvhNode& to) {
  const bool used = node.part.pairs != 0;
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    const float lower = node.whole.lower[a];
    const std::uint32_t exponent = grid_exponent(lower, node.whole.upper[a]);
    const float steps = __uint_as_float((254 - exponent) << 23);  // in one unit of length
    to.lower[a][node.slot] = used ? plane(floorf(__fsub_rd(node.part.cluster.lower[a], lower) * steps)) : 255;
    to.upper[a][node.slot] = used ? plane(ceilf(__fsub_ru(node.part.cluster.upper[a], lower) * steps)) : 0;
    if (slot_lane() == 0) {
      to.origin[a] = lower;
      to.exponent[a] = static_cast<std::uint8_t>(exponent);
    }
  }
  if (slot_lane() == 0) {
    to.spare = 0;
    to.pairs = node.pair_bits;
    to.inner = node.inner_bits;
  }
}

// Where each level ends: behind its last node's last child, where the next node's children begin.
__device__ void find_levels(const Queue& queue, BuildState* state) {
  const std::uint32_t count = *static_cast<volatile std::uint32_t*>(&state->wide_nodes);
  int level = 0;
  for (std::uint32_t end = 1; count != 0 && level < kBvhMaxDepth;) {
    state->level_ends[level++] = end;
    if (end == count) {
      state->levels = level;
      return;
    }
    end = *static_cast<volatile std::uint32_t*>(&queue.nodes[end].first_child);
  }
  state->levels = kBvhMaxDepth + 1;
}

/// What a block has in shared memory.
struct Shared {
  std::uint32_t tile;
  Start start;
  Totals of_node[kTile];  // then: of all nodes before each
  Totals end;             // of all nodes up to the last one
  bvh_detail::BvhNode nodes[kTile];
};

// Nodes [begin, shared.start.ready) of the queue, at most a tile.
__device__ void gather_ready(const Tree& tree, const Queue& queue, std::uint32_t begin, const BuildState* state,
                             Shared& shared) {
  const unsigned of_tile = threadIdx.x / kSlots, lane = threadIdx.x % 32;
  const std::uint32_t i = begin + of_tile;
  const bool active = i < shared.start.ready, counted = shared.start.counted;
  std::uint32_t root = 0;
  if (active && i == 0) root = state->root + 1;
  while (active && root == 0) root = *static_cast<volatile std::uint32_t*>(queue.roots + i);
  __syncwarp();
  const Node node = gather(tree, root - 1, active);
  if (slot_lane() == 0) shared.of_node[of_tile] = node.totals();
  __syncthreads();
  if (threadIdx.x < 32) {
    Sum mine;
    if (lane < kTile) mine = Sum(shared.of_node[lane]);
    Sum up_to = mine;
#pragma unroll
    for (unsigned apart = 1; apart < 32; apart *= 2) {
      const std::uint64_t other = __shfl_up_sync(kAll, up_to.bits, apart);
      if (lane >= apart) up_to.bits += other;
    }
    Sum whole;
    whole.bits = __shfl_sync(kAll, up_to.bits, 31);
    Sum before(shared.start.before);
    if (!counted) {
      if (lane == 0) queue.sums[shared.tile].publish_own(whole);
      before = sum_before(queue, shared.tile);
      whole.add(before);
      if (lane == 0) queue.sums[shared.tile].publish_all(whole);
    } else {
      whole.add(before);
    }
    before.add(up_to);
    before.bits -= mine.bits;
    if (lane < kTile) shared.of_node[lane] = before.totals();
    if (lane == 0) shared.end = whole.totals();
  }
  if (active) encode(node, shared.nodes[of_tile]);
  __syncthreads();
  if (!active) return;
  const Totals before = shared.of_node[of_tile];
  append(tree, queue, node, before);
  bvh_detail::BvhNode& staged = shared.nodes[of_tile];
  if (slot_lane() == 0) {
    staged.first_child = before.inner;
    staged.first_pair = before.pairs;
  }
  __syncwarp(0xFFu << (threadIdx.x % 32 & ~7u));
  if (slot_lane() < sizeof(bvh_detail::BvhNode) / sizeof(uint4))
    reinterpret_cast<uint4*>(queue.nodes + i)[slot_lane()] = reinterpret_cast<const uint4*>(&staged)[slot_lane()];
}

__global__ void __launch_bounds__(kThreads, kBlocksEach) gather_all(Tree tree, Queue queue, BuildState* state) {
  __shared__ Shared shared;
  while (true) {
    __syncthreads();  // slower threads may still read `shared`
    if (threadIdx.x == 0) {
      shared.tile = atomicAdd(&state->tiles_begun, 1u);
      const std::uint32_t begin = shared.tile * kTile;
      if (begin < queue.most) shared.start = wait_for(queue, shared.tile, min(begin + kTile, queue.most), state);
    }
    __syncthreads();
    const std::uint32_t tile = shared.tile, begin = tile * kTile;
    if (begin >= queue.most || shared.start.ready <= begin) break;
    const std::uint32_t end = min(begin + kTile, queue.most);
    const bool counted = shared.start.counted;
    for (std::uint32_t done = begin; done < shared.start.ready;) {
      gather_ready(tree, queue, done, state, shared);
      done = shared.start.ready;
      __syncthreads();
      if (threadIdx.x == 0) {
        shared.start.before = shared.end;
        shared.start.ready = min(shared.end.inner, end);
        if (shared.end.inner <= done) *static_cast<volatile std::uint32_t*>(&state->wide_nodes) = done;
      }
      __syncthreads();
      if (!counted) break;
    }
    if (counted && threadIdx.x == 0) queue.sums[tile].publish_all(Sum(shared.start.before));
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0 && atomicAdd(&state->blocks_done, 1u) == gridDim.x - 1) {
    __threadfence();
    find_levels(queue, state);
  }
}

// Usually enough. A tree with more nodes is built on the host.
std::uint32_t most_nodes(const Build& build, std::uint32_t pairs) {
  return static_cast<std::uint32_t>(std::size_t{pairs} * 8 / (7 * (build.input.leaf_pairs + 1)) + 2);
}
std::uint32_t tiles_of(std::uint32_t nodes) {
  return (nodes + kTile - 1) / kTile;
}

}  // namespace

ClearedQueue clear_queue(const Build& build, std::uint32_t room) {
  const std::uint32_t most = most_nodes(build, room);
  const std::size_t of_sums = tiles_of(most) * sizeof(TileSum), of_roots = most * sizeof(std::uint32_t);
  auto* const zeros = build.take<char>(of_sums + of_roots);
  check(cudaMemsetAsync(zeros, 0, of_sums + of_roots, build.stream), "clearing memory");
  return {zeros, reinterpret_cast<std::uint32_t*>(zeros + of_sums)};
}

WideNodes gather_wide_nodes(const Build& build, const SortedPairs& pairs, const BinaryNodes& inner,
                            const ClearedQueue& cleared) {
  const std::uint32_t most = most_nodes(build, pairs.count), tiles = tiles_of(most);
  const Queue queue{most, cleared.roots, static_cast<TileSum*>(cleared.sums), build.take<bvh_detail::BvhNode>(most),
                    build.take<std::uint32_t>(pairs.count)};
  const Tree tree{pairs.boxes, inner.clusters, inner.costs, pairs.count, build.input.leaf_pairs};
  // Blocks take tiles in order, by an atomic. So each waits only for tiles of blocks that already run.
  gather_all<<<std::min(tiles, resident_blocks(gather_all, kThreads)), kThreads, 0, build.stream>>>(tree, queue,
                                                                                                    build.state);
  return {queue.nodes, queue.order};
}

}  // namespace raylift::cuda
