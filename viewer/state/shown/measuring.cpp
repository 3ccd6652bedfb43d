// SPDX-License-Identifier: Apache-2.0
#include "state/shown/measuring.h"

#include <fmt/format.h>
#include <raylift/geometry/scene/eigen.h>

#include <utility>

#include "model/solids/display_name.h"

namespace raylift::viewer {

void Measuring::set_active(bool active) {
  active_ = active;
  set_points({});
  if (active)
    shown_.messages.show(
        "click on surfaces, or with Shift for centres: two points have a distance, three an angle; Escape ends it");
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
  add(found->point);
}

void Measuring::add(const Eigen::Vector3d& point) {
  std::vector<Eigen::Vector3d> points = shown_.settings.measured;
  if (points.size() >= kMaxMeasured) points.clear();
  points.push_back(point);
  set_points(std::move(points));
}

void Measuring::add_centre(std::uint32_t solid) {
  add(shown_.measurer->centre(solid));
  const Scene& scene = *shown_.scene;
  shown_.messages.show(fmt::format("point {}: the centre of {}", shown_.settings.measured.size(),
                                   display_name(scene.solid_name(scene.instances[solid]))));
}

void Measuring::add_centre(const SelectedSolids& selected) {
  if (selected.is_one()) return add_centre(selected.instance);
  if (!selected.is_set())
    if (const auto own = shown_.solids->instances(selected.group); !own.empty()) return add_centre(own[0]);
  const Bounds box = shown_.solids->bounds(selected.solids);
  if (box.empty()) return shown_.messages.show("no solid is there to be measured from");
  add(to_eigen(box.center()));
  shown_.messages.show(fmt::format("point {}: the centre of the box of {}", shown_.settings.measured.size(),
                                   display_name(selected.name)));
}

}  // namespace raylift::viewer
