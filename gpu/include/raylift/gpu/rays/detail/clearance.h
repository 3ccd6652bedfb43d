// SPDX-License-Identifier: Apache-2.0
// Whether a ball is free of faces, by the boxes of the tree alone.
#pragma once

#include <raylift/gpu/rays/detail/boundary_faces.h>

namespace raylift::bvh_detail {

// The slots of a node whose boxes come that near to a point.
RAYLIFT_HD inline NodeHits near_slots(const NodeWords& node, Float3 point, float distance) {
  const std::uint32_t* const words = node.word;
  const float p[3] = {point.x, point.y, point.z};
  std::uint32_t hits = 0;
  for (int slot = 0; slot < 8; ++slot) {
    float squares = 0;
    for (int a = 0; a < 3; ++a) {
      const float step = as_float((words[3] >> (8 * a) & 0xFFu) << 23);
      const auto plane = [&](int first) {
        const std::uint32_t byte = words[first + 2 * a + slot / 4] >> (8 * (slot % 4)) & 0xFFu;
        return as_float(words[a]) + static_cast<float>(byte) * step;
      };
      const float apart = maximum(maximum(plane(8) - p[a], p[a] - plane(14)), 0.0f);
      squares += apart * apart;
    }
    if (squares <= distance * distance) hits |= 0xFu << (4 * slot);
  }
  const std::uint32_t pairs = words[6], inner = words[7];
  return {{words[4], (hits & inner) | inner << 1}, {hits & pairs, pairs, words[5]}};
}

// Whether boxes of pairs come that near, in the tree below a node. kScene: the tree is over instances.
template <bool kScene>
RAYLIFT_HD inline bool any_near(const BvhView& bvh, std::uint32_t root, Float3 point, float distance) {
  NodeGroup stack[kBvhMaxDepth];
  int depth = 0;
  NodeGroup nodes = only_child(root);
  while (true) {
    if (!any_child(nodes)) {
      if (depth == 0) return false;
      nodes = stack[--depth];
    }
    const std::uint32_t child = next_child(nodes, 0);
    if (any_child(nodes)) stack[depth++] = nodes;
    const NodeWords node = load_node(bvh.nodes + child);
    if constexpr (kScene) {
      if (!node.is_node()) {
        // Nothing gets longer by more than the root of the sum of the matrix's squares.
        const InstanceNode placed = node.instance();
        const float* const m = placed.to_mesh.m;
        float squares = 0;
        for (int i = 0; i < 12; ++i)
          if (i % 4 != 3) squares += m[i] * m[i];
        const Float3 in = in_mesh(placed, {LocalPoint(point), 0, {1, 0, 0}, 0}).origin;
        if (any_near<false>(bvh, placed.root, in, sqrtf(squares) * distance)) return true;
        nodes = {0, 0};
        continue;
      }
    }
    const NodeHits near = near_slots(node, point, distance);
    if (near.leaves.pairs != 0) return true;
    nodes = near.children;
  }
}

}  // namespace raylift::bvh_detail
