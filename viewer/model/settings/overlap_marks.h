// SPDX-License-Identifier: Apache-2.0
// Overlaps of solids as marks in the image: as find_overlaps() finds them, or as 'raylift check --json' reported them.
// No GL.
#pragma once

#include <raylift/geometry/checks/overlaps.h>
#include <raylift/geometry/scene/scene.h>

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <vector>

namespace raylift::viewer {

struct OverlapMark {
  Eigen::Vector3d place;  ///< the deepest point, mm
  double depth = 0;       ///< mm
  std::string words;      ///< what overlaps, and how
  /// Indices in Scene::instances.
  std::uint32_t first = kNone, second = kNone;
  std::uint64_t pairs = 1;  ///< that are alike
};
using OverlapMarks = std::vector<OverlapMark>;  ///< the deepest first

[[nodiscard]] OverlapMarks overlap_marks(const Scene& scene, const OverlapReport& report);
/// Reads what 'raylift check --json' wrote about this scene, alone or among others. Errors: io; malformed; usage where
/// the report is of other scenes, or was made without overlaps.
[[nodiscard]] OverlapMarks read_overlap_marks(const std::string& file, const Scene& scene);

}  // namespace raylift::viewer
