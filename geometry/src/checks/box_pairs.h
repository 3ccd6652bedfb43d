// SPDX-License-Identifier: Apache-2.0
// Which of many boxes meet.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace raylift {

/// All pairs (i, k), i < k, of boxes that have a point in common; sorted. By a tree over the boxes' middles: n log n
/// steps where boxes are small and lie apart, and as many as there are pairs where they don't.
[[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> meeting_boxes(std::span<const Bounds> boxes);

}  // namespace raylift
