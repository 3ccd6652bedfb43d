// SPDX-License-Identifier: Apache-2.0
// The state's measuring between points.
#include <utility>

#include "state/viewer_state.h"

namespace raylift::viewer {

void ViewerState::set_measuring(bool measuring) {
  measuring_ = measuring;
  set_measured({});
  if (measuring) say("click on surfaces: two points have a distance, three an angle; Escape ends it");
}

void ViewerState::set_measured(std::vector<Eigen::Vector3d> points) {
  settings_.measured = std::move(points);
  ++revision_;
}

void ViewerState::measure_at(const std::optional<Picked>& picked, const Cursor& cursor) {
  const auto point = picked ? picked_point(*picked, cursor) : std::nullopt;
  if (!point) return say("no surface is there to be measured from");
  std::vector<Eigen::Vector3d> points = settings_.measured;
  if (points.size() >= kMaxMeasured) points.clear();
  points.push_back(*point);
  set_measured(std::move(points));
}

}  // namespace raylift::viewer
