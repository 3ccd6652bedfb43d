// SPDX-License-Identifier: Apache-2.0
// A wide node as it is stored: boxes of its children on its grid.
#pragma once

#include <raylift/geometry/bvh/bvh_format.h>
#include <raylift/geometry/index.h>

#include "bvh_sah.h"

#include <array>
#include <cstdint>

namespace raylift::bvh {

/// A binary node or, where it is kSingle, a primitive; and where its primitives begin.
struct Subtree {
  std::uint32_t node, first;

  [[nodiscard]] bool is_single() const { return node == kSingle; }
  static constexpr std::uint32_t kSingle = kNone - 1;
};

/// A binary tree, and what it orders.
struct BinaryTree {
  const BinaryNode* nodes;
  const Primitive* primitives;

  [[nodiscard]] bool is_leaf(Subtree at) const { return at.is_single() || nodes[at.node].choice.is_leaf(); }
  [[nodiscard]] std::uint32_t count(Subtree at) const { return at.is_single() ? 1 : nodes[at.node].count; }
  [[nodiscard]] Box box(Subtree at) const {
    if (at.is_single()) return {primitives[at.first].lower, primitives[at.first].upper};
    const BinaryNode& n = nodes[at.node];
    return {Lanes{n.lower[0], n.lower[1], n.lower[2], 0}, Lanes{n.upper[0], n.upper[1], n.upper[2], 0}};
  }
};

/// The subtrees that become a wide node's children, by slot; kNone where there is none.
using Children = std::array<Subtree, kWide>;

/// The wide node at `root`, but for where its children and pairs begin. Lower planes are rounded down,
/// upper ones up.
[[nodiscard]] bvh_detail::BvhNode encode(const BinaryTree& tree, Subtree root, const Children& children);

}  // namespace raylift::bvh
