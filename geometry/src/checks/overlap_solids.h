// SPDX-License-Identifier: Apache-2.0
// The pairs of solids to test for overlaps, those that are alike put together.
#pragma once

#include <raylift/geometry/checks/check.h>
#include <raylift/geometry/scene/scene.h>

#include <cstdint>
#include <vector>

#include "overlap_pair.h"

namespace raylift::overlap {

/// What is known of a solid before anything is tested.
struct Solid {
  bool has_inside = false;
  double scale = 0;           // the most millimetres that a unit of its mesh becomes
  double rounding = 0;        // millimetres by which its surface may be off its true place
  Mesh::Deviation deviation;  // of its facets from its true surface, millimetres
  Bounds box;                 // in the world, around its mesh's box
};

/// One test, and the pairs that it stands for. Of two siblings, the first has the lower number.
struct Test {
  std::uint32_t first;
  std::uint32_t second;
  Relation relation;
  double tolerance = 0;
  double facets = 0;  // Overlap::facets
  std::uint64_t pairs = 1;
};

struct Tests {
  std::vector<Test> tests;  // by their first pair: daughters by number, then siblings
  std::uint64_t pairs = 0;
};

[[nodiscard]] std::vector<Solid> look_at_solids(const Scene& scene, const SceneCheck& check);
[[nodiscard]] Tests make_tests(const Scene& scene, const SceneCheck& check, const std::vector<Solid>& solids,
                               double tolerance);

}  // namespace raylift::overlap
