// SPDX-License-Identifier: Apache-2.0
#include "bvh/instance_level.h"

#include <raylift/geometry/index.h>

#include <bit>
#include <vector>

#include "bvh_wide.h"

namespace raylift::bvh {

bvh_detail::BvhNode empty_node() {
  bvh_detail::BvhNode node{};
  for (int a = 0; a != 3; ++a) {
    node.exponent[a] = 1;
    for (int s = 0; s != 8; ++s) node.lower[a][s] = 255;
  }
  return node;
}

RawVector<bvh_detail::BvhNode> build_instance_level(std::span<const PlacedTree> placed) {
  RawVector<Primitive> primitives(placed.size());
  for (std::size_t i = 0; i != placed.size(); ++i) {
    Primitive& p = primitives[i];
    for (int a = 0; a != 3; ++a) {
      p.lower[a] = bvh_detail::rounded_down(placed[i].box.lower[a]);
      p.upper[a] = bvh_detail::rounded_up(placed[i].box.upper[a]);
    }
    p.upper[3] = 0;
    p.set_number(static_cast<std::uint32_t>(i));
  }
  const WideTree tree = build_wide(primitives, 1);
  RawVector<bvh_detail::BvhNode> nodes;
  if (tree.nodes.empty()) return nodes;
  nodes.reserve(tree.nodes.size() + placed.size());
  // The wide tree's leaves become inner slots too; so children are numbered anew.
  std::vector<std::uint32_t> from{0};  // for each node of the result, its number in the tree, or kNone for an instance
  nodes.push_back(tree.nodes[0]);
  for (std::size_t i = 0; i != nodes.size(); ++i) {
    if (from[i] == kNone) continue;
    const bvh_detail::BvhNode old = tree.nodes[from[i]];
    bvh_detail::BvhNode node = old;
    node.first_child = static_cast<std::uint32_t>(nodes.size());
    node.first_pair = 0;
    node.pairs = 0;
    std::uint32_t child = old.first_child, leaf = old.first_pair;
    for (int s = 0; s != 8; ++s) {
      if (old.is_empty(s)) continue;
      node.inner |= 1u << (4 * s);
      if (old.is_inner(s)) {
        from.push_back(child);
        nodes.push_back(tree.nodes[child++]);
        continue;
      }
      from.push_back(kNone);
      nodes.push_back(std::bit_cast<bvh_detail::BvhNode>(placed[tree.order[leaf++]].node));
    }
    nodes[i] = node;
  }
  return nodes;
}

}  // namespace raylift::bvh
