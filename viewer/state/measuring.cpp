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

std::optional<SnapPoint> Measuring::point_at(const PickedAround& picked, const Cursor& cursor, bool snaps) {
  if (picked.all.empty()) return std::nullopt;
  if (snapped_.lock() != shown_.scene) snapping_.forget();
  snapped_ = shown_.scene;
  if (snaps && shown_.settings.snap) return snapping_.find(shown_, picked.all, picked.at_cursor, cursor);
  const auto point = picked.at_cursor ? shown_.point_of(picked.all.front(), cursor) : std::nullopt;
  return point ? std::optional(SnapPoint{SnapPoint::To::face, *point}) : std::nullopt;
}

void Measuring::add(const PickedAround& picked, const Cursor& cursor, bool snaps) {
  const auto found = point_at(picked, cursor, snaps);
  if (!found) return shown_.messages.show("no surface is there to be measured from");
  std::vector<Eigen::Vector3d> points = shown_.settings.measured;
  if (points.size() >= kMaxMeasured) points.clear();
  points.push_back(found->point);
  set_points(std::move(points));
}

}  // namespace raylift::viewer
