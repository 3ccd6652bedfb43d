// SPDX-License-Identifier: Apache-2.0
// What holds for each node of a BVH, wherever the BVH comes from: a cache file or the caller.
#pragma once

#include <raylift/geometry/bvh/bvh_format.h>

#include <bit>
#include <cstdint>

namespace raylift::detail {

/// How many children and pairs of triangles a node has, and whether its slots are either of both and its pairs are
/// among `pairs` of them. Its link to children depends on the tree, and is not checked.
struct NodeLinks {
  std::uint32_t children, pairs;
  bool slots_sound, pairs_there;

  NodeLinks(const bvh_detail::BvhNode& node, std::uint64_t all_pairs)
      : children(static_cast<std::uint32_t>(std::popcount(node.inner))),
        pairs(static_cast<std::uint32_t>(std::popcount(node.pairs))),
        slots_sound((node.inner & ~0x11111111U) == 0 && (node.inner * 15U & node.pairs) == 0),
        pairs_there(pairs == 0 || (pairs <= all_pairs && node.first_pair <= all_pairs - pairs)) {}
};

}  // namespace raylift::detail
