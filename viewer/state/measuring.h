// SPDX-License-Identifier: Apache-2.0
// Measuring between clicked points, which are Settings::measured.
#pragma once

#include <optional>
#include <vector>

#include "state/shown_scene.h"

namespace raylift::viewer {

class Measuring {
 public:
  explicit Measuring(ShownScene& shown) : shown_(shown) {}

  /// Whether clicks add points.
  [[nodiscard]] bool active() const { return active_; }
  /// Begins or ends measuring, both without points.
  void set_active(bool active);
  /// At most kMaxMeasured.
  void set_points(std::vector<Eigen::Vector3d> points);
  /// Adds the point that a click at `cursor` met; after kMaxMeasured points it is the first again.
  void add(const std::optional<Picked>& picked, const Cursor& cursor);

 private:
  ShownScene& shown_;
  bool active_ = false;
};

}  // namespace raylift::viewer
