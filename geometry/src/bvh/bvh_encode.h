// SPDX-License-Identifier: Apache-2.0
// A wide node as it is stored: boxes of its children on its grid.
#pragma once

#include <raylift/geometry/bvh/bvh_format.h>
#include <raylift/geometry/index.h>

#include "bvh_sah.h"

#include <array>
#include <cstdint>

namespace raylift::inline v0_1::bvh {

/// A binary node, and where its primitives begin.
struct Subtree {
  std::uint32_t node, first;
};

/// The subtrees that become a wide node's children, by slot; kNone where there is none.
using Children = std::array<Subtree, kWide>;

/// The wide node at the binary node `root`, but for where its children and pairs begin. Lower planes are rounded down,
/// upper ones up.
[[nodiscard]] BvhNode encode(const BinaryNode* tree, std::uint32_t root, const Children& children);

}  // namespace raylift::inline v0_1::bvh
