// SPDX-License-Identifier: Apache-2.0
// The quality of a BVH, independent of the machine that traverses it.
#pragma once

#include <raylift/geometry/bvh/bvh.h>
#include <raylift/geometry/bvh/ray.h>

#include <cstdint>
#include <span>
#include <vector>

namespace raylift::bench {

struct BvhQuality {
  double nodes = 0, pairs = 0;          ///< visited per ray, closest hit, as the traversal really goes; no rays: 0
  double sah_nodes = 0, sah_pairs = 0;  ///< expected of a line that crosses the root's box: the surface area heuristic
  double inner_slots = 0, leaf_slots = 0;  ///< used of eight, per node
  double pairs_per_leaf = 0;
};

[[nodiscard]] BvhQuality measure_quality(const Bvh& bvh, std::span<const Ray> rays);

/// The number of visits of rays to each node and each pair, closest hit.
struct Touches {
  std::vector<std::uint32_t> nodes, pairs;
};
[[nodiscard]] Touches count_touches(const Bvh& bvh, std::span<const Ray> rays);

}  // namespace raylift::bench
