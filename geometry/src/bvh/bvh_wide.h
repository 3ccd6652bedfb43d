// SPDX-License-Identifier: Apache-2.0
// Wide nodes over boxes of anything: triangle pairs of a mesh, or instances of a scene.
#pragma once

#include <raylift/geometry/bvh/bvh_format.h>
#include <raylift/geometry/detail/raw_vector.h>

#include <cstdint>
#include <vector>

#include "bvh_sah.h"

namespace raylift::bvh {

/// Level by level. A leaf slot's numbers (BvhNode::first_pair and on) are positions in `order`, which names primitives.
struct WideTree {
  RawVector<bvh_detail::BvhNode> nodes;
  RawVector<std::uint32_t> order;
  std::vector<std::uint32_t> level_ends;  ///< where each level of nodes ends
};

/// Builds by the surface area heuristic; reorders `primitives`. Leaves hold up to `leaf_size` of them.
[[nodiscard]] WideTree build_wide(RawVector<Primitive>& primitives, std::uint32_t leaf_size);

}  // namespace raylift::bvh
