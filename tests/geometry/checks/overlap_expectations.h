// SPDX-License-Identifier: Apache-2.0
// What tests of overlaps expect of a scene of two solids, and where they put it.
#pragma once

#include <gmock/gmock.h>
#include <raylift/geometry/checks/overlaps.h>
#include <raylift/geometry/scene/eigen.h>

#include <numbers>
#include <vector>

#include "import/sanitized.h"
#include "overlap_scenes.h"

namespace raylift::test {

/// Expects one overlap of solids 0 and 1, and returns it.
inline Overlap the_overlap(const Scene& scene, const Overlap::Options& options = {}) {
  const OverlapReport report = find_overlaps(scene, options);
  EXPECT_THAT(report.overlaps, testing::SizeIs(1));
  EXPECT_EQ(report.overlapping_pairs, report.overlaps.size());
  EXPECT_EQ(report.undecided_pairs, 0U);
  if (report.overlaps.empty()) return {};
  EXPECT_EQ(report.overlaps[0].first + report.overlaps[0].second, 1U);
  EXPECT_GE(report.overlaps[0].depth_at_most, report.overlaps[0].depth);
  return report.overlaps[0];
}

inline void expect_touching(const Scene& scene, std::uint64_t pairs, const char* what = "") {
  const OverlapReport report = find_overlaps(scene);
  EXPECT_THAT(report.overlaps, testing::IsEmpty())
      << what << ", depth " << (report.overlaps.empty() ? 0 : report.overlaps[0].depth);
  EXPECT_EQ(report.touching_pairs, pairs) << what;
  EXPECT_EQ(report.undecided_pairs, 0U) << what;
}

/// The scene where it is, far from the origin, turned, and both; under sanitizers the first and the last of these.
inline std::vector<EigenTransform> views() {
  const EigenTransform turned = RandomShapes(1).rotation();
  EigenTransform quarter = EigenTransform::Identity();
  quarter.rotate(Eigen::AngleAxisd(std::numbers::pi / 2, Vector3d::UnitZ()));
  const Vector3d far(1e5, -1e5, 1e5);
  if (kSanitized) return {at({0, 0, 0}), at(far) * turned};
  return {at({0, 0, 0}), at(far), quarter, turned, at(far) * turned};
}

}  // namespace raylift::test
