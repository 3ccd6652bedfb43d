// SPDX-License-Identifier: Apache-2.0
// What the builders of BVHs expect a ray's visit to cost.
#pragma once

namespace raylift::bvh_detail {

/// The cost of a visit, per area of box: a node, and a pair of triangles under a leaf.
inline constexpr float kNodeCost = 1.0f, kPairCost = 1.0f;

}  // namespace raylift::bvh_detail
