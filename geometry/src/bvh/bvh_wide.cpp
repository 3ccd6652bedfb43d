// SPDX-License-Identifier: Apache-2.0
// The collapse of a binary tree into compressed wide nodes.
#include "bvh_wide.h"
#include "bvh_encode.h"
#include "large_vector.h"

#include <raylift/geometry/error.h>

#include <tbb/parallel_for.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace raylift::bvh {
namespace {

constexpr std::size_t kNodesAtOnce = 64;  // wide nodes that one thread makes

// Follows the choices that were made for a node with `roots` children.
int open(const BinaryTree& tree, Subtree at, int roots, std::array<Subtree, kWide>& out, int count) {
  if (!at.is_single()) {
    const WideChoice choice = tree.nodes[at.node].choice;
    while (roots > 1 && choice.left_roots(roots) == 0) --roots;
    if (roots > 1) {
      const Subtree left =
          choice.is_left_single() ? Subtree{Subtree::kSingle, at.first} : Subtree{at.node + 1, at.first};
      const std::uint32_t left_count = tree.count(left);
      Subtree right{at.node + left_count, at.first + left_count};
      if (tree.nodes[at.node].count - left_count == 1) right.node = Subtree::kSingle;
      const auto left_roots = static_cast<int>(choice.left_roots(roots));
      count = open(tree, left, left_roots, out, count);
      return open(tree, right, roots - left_roots, out, count);
    }
  }
  out[count] = at;
  return count + 1;
}

// How much each inner child wants each slot: how far it lies from the node's middle in the slot's direction.
using Agreements = std::array<std::array<float, kWide>, kWide>;

Agreements agreements(const BinaryTree& tree, Subtree root, const std::array<Subtree, kWide>& found, int inner) {
  const Box whole = tree.box(root);
  Agreements result;
  for (int i = 0; i < inner; ++i) {
    const Box child = tree.box(found[i]);
    const Lanes offset = 0.5f * (child.lower + child.upper) - 0.5f * (whole.lower + whole.upper);
    const Lanes x = {-offset[0], offset[0], -offset[0], offset[0]}, y = {-offset[1], -offset[1], offset[1], offset[1]};
    const Lanes low = x + y - offset[2], high = x + y + offset[2];
    std::memcpy(result[i].data(), &low, sizeof low);
    std::memcpy(result[i].data() + 4, &high, sizeof high);
  }
  return result;
}

// Inner children get slots by their direction from the node's middle: the pair (child, slot) that agrees most comes
// first. Leaves go wherever there is room, as all pairs that a ray may hit are tested before any child.
Children gather(const BinaryTree& tree, Subtree root) {
  std::array<Subtree, kWide> found;
  const int count = open(tree, root, kWide, found, 0);
  const auto is_inner = [&](const Subtree& child) { return !tree.is_leaf(child); };
  const int inner =
      static_cast<int>(std::stable_partition(found.begin(), found.begin() + count, is_inner) - found.begin());
  const Agreements agreement = agreements(tree, root, found, inner);
  Children result;
  result.fill({kNone, 0});
  // The free slot that each child agrees with most: looked for anew only where another child took it.
  std::array<int, kWide> wish;
  const auto look = [&](int child) {
    int best = -1;
    for (int s = 0; s < kWide; ++s)
      if (result[s].node == kNone && (best < 0 || agreement[child][s] > agreement[child][best])) best = s;
    wish[child] = best;
  };
  for (int i = 0; i < inner; ++i) look(i);
  std::uint32_t waiting = (1u << inner) - 1u;  // a bit for each child without a slot
  while (waiting != 0) {
    int child = std::countr_zero(waiting);
    for (std::uint32_t others = waiting & (waiting - 1); others != 0; others &= others - 1) {
      const int i = std::countr_zero(others);
      if (agreement[i][wish[i]] > agreement[child][wish[child]]) child = i;
    }
    const int place = wish[child];
    result[place] = found[child];
    waiting &= ~(1u << child);
    for (std::uint32_t others = waiting; others != 0; others &= others - 1)
      if (const int i = std::countr_zero(others); wish[i] == place) look(i);
  }
  int slot = 0;
  for (int i = inner; i < count; ++i) {
    while (result[slot].node != kNone) ++slot;
    result[slot] = found[i];
  }
  return result;
}

// Where a node's children begin in the next level, and its pairs in the order of all.
struct Begin {
  std::uint32_t child = 0, pair = 0;

  void skip(const bvh_detail::BvhNode& node) {
    child += static_cast<std::uint32_t>(std::popcount(node.inner));
    pair += static_cast<std::uint32_t>(std::popcount(node.pairs));
  }
};

// One level of wide nodes after the other: the nodes while their children are in the cache, then where those go.
WideTree collapse(const BinaryNode* binary_nodes, const RawVector<Primitive>& primitives) {
  const BinaryTree tree{binary_nodes, primitives.data()};
  WideTree result;
  resize_large(result.order, primitives.size());
  result.nodes.reserve(primitives.size() / 4 + 1);  // seldom more; what stays unused is never touched
  RawVector<Subtree> level{{primitives.size() == 1 ? Subtree::kSingle : 0, 0}}, next;
  std::vector<Begin> begins;  // of blocks of nodes
  std::uint32_t pair_end = 0;
  while (!level.empty()) {
    const std::size_t n = level.size(), base = result.nodes.size();
    const auto children = make_large<Children>(n);
    if (result.nodes.capacity() >= base + n) base::touch(result.nodes.data() + base, n * sizeof(bvh_detail::BvhNode));
    result.nodes.resize(base + n);
    const std::span<bvh_detail::BvhNode> nodes = std::span(result.nodes).subspan(base);
    const std::size_t blocks = (n + kNodesAtOnce - 1) / kNodesAtOnce;
    begins.assign(blocks, {});
    // Calls use(i, the begin of its block) for each node, a block on one thread in order.
    const auto for_nodes = [&](const auto& use) {
      tbb::parallel_for(std::size_t{0}, blocks, [&](std::size_t b) {
        for (std::size_t i = b * kNodesAtOnce; i < std::min(n, (b + 1) * kNodesAtOnce); ++i) use(i, begins[b]);
      });
    };
    for_nodes([&](std::size_t i, Begin& begin) {
      children[i] = gather(tree, level[i]);
      nodes[i] = encode(tree, level[i], children[i]);
      begin.skip(nodes[i]);
    });
    Begin end{0, pair_end};
    for (Begin& begin : begins) {
      const Begin block = std::exchange(begin, end);
      end.child += block.child;
      end.pair += block.pair;
    }
    pair_end = end.pair;
    next.resize(end.child);
    for_nodes([&](std::size_t i, Begin& begin) {
      bvh_detail::BvhNode& node = nodes[i];
      node.first_child = static_cast<std::uint32_t>(base + n) + begin.child;
      node.first_pair = begin.pair;
      Subtree* to_child = next.data() + begin.child;
      std::uint32_t* to_pair = result.order.data() + begin.pair;
      for (int s = 0; s < kWide; ++s) {
        const Subtree& child = children[i][s];
        if (node.is_inner(s)) *to_child++ = child;
        const auto count = static_cast<std::uint32_t>(std::popcount(node.pair_bits(s)));
        for (std::uint32_t k = 0; k < count; ++k) *to_pair++ = primitives[child.first + k].number();
      }
      begin.skip(node);
    });
    result.level_ends.push_back(static_cast<std::uint32_t>(result.nodes.size()));
    level.swap(next);
  }
  return result;
}

}  // namespace

WideTree build_wide(RawVector<Primitive>& primitives, std::uint32_t leaf_size) {
  if (primitives.empty()) return {};
  // A wide tree is seldom half as deep as the binary one; where it is too deep all the same, a binary tree of the depth
  // that the wide one may have decides it.
  for (const int max_depth : {2 * kBvhMaxDepth, kBvhMaxDepth}) {
    WideTree result = collapse(build_binary(primitives, max_depth, leaf_size).get(), primitives);
    if (result.level_ends.size() <= kBvhMaxDepth) return result;
  }
  throw Error(ErrorKind::limit,
              "the BVH is too deep");  // not reached: a binary tree bounds what is gathered of it
}

}  // namespace raylift::bvh
