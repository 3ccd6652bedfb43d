// SPDX-License-Identifier: Apache-2.0
#include "state/measuring.h"

#include <utility>

namespace raylift::viewer {

void Measuring::set_active(bool active) {
  active_ = active;
  set_points({});
  if (active) shown_.messages.show("click on surfaces: two points have a distance, three an angle; Escape ends it");
}

void Measuring::set_points(std::vector<Eigen::Vector3d> points) {
  shown_.settings.measured = std::move(points);
  ++shown_.revision;
}

void Measuring::add(const std::optional<Picked>& picked, const Cursor& cursor) {
  const auto point = picked ? shown_.point_of(*picked, cursor) : std::nullopt;
  if (!point) return shown_.messages.show("no surface is there to be measured from");
  std::vector<Eigen::Vector3d> points = shown_.settings.measured;
  if (points.size() >= kMaxMeasured) points.clear();
  points.push_back(*point);
  set_points(std::move(points));
}

}  // namespace raylift::viewer
