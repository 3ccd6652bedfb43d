// SPDX-License-Identifier: Apache-2.0
// The level of a scene's BVH over its instances.
#pragma once

#include <raylift/geometry/bvh/bvh_format.h>
#include <raylift/geometry/detail/raw_vector.h>

#include <cstddef>
#include <span>

#include "instance_box.h"

namespace raylift::bvh {

/// An instance that rays can hit, or a part of it: what hangs below a node of its mesh's tree.
struct PlacedTree {
  bvh_detail::InstanceNode node;
  bvh_detail::InstanceBox box;
};

/// The nodes over `placed`, level by level, with each InstanceNode beside its siblings. At least one must be given.
[[nodiscard]] RawVector<bvh_detail::BvhNode> build_instance_level(std::span<const PlacedTree> placed);

/// How many nodes any level over `count` of these takes at most: each inner node has two children or more, but for the
/// root of a single one.
[[nodiscard]] constexpr std::size_t instance_room(std::size_t count) {
  return 2 * count;
}

/// A node that no ray enters.
[[nodiscard]] bvh_detail::BvhNode empty_node();

}  // namespace raylift::bvh
