// SPDX-License-Identifier: Apache-2.0
// Measuring between clicked points, which are Settings::measured.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "state/shown/selection.h"
#include "state/shown/shown_scene.h"
#include "state/shown/snapping.h"

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
  /// The point that a click at `cursor` would add: near it a vertex or an edge, if settings and `snaps` allow that.
  [[nodiscard]] std::optional<SnapPoint> point_at(const PickedAround& picked, const Cursor& cursor, bool snaps);
  /// Adds this point; after kMaxMeasured points it is the first again.
  void add(const PickedAround& picked, const Cursor& cursor, bool snaps);
  /// Adds the centre of a solid, likewise.
  void add_centre(std::uint32_t solid);
  /// Adds the centre of what is selected: of a group, that of the node's own solid; of a group without one and of other
  /// sets of solids, that of their box.
  void add_centre(const SelectedSolids& selected);

 private:
  void add(const Eigen::Vector3d& point);

  ShownScene& shown_;
  Snapping snapping_;
  std::weak_ptr<const Scene> snapped_;  // whose edges it keeps
  bool active_ = false;
};

}  // namespace raylift::viewer
