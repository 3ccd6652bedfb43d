// SPDX-License-Identifier: Apache-2.0
#include "model/solids/clip_box.h"

#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "cli/text.h"
#include "model/solids/find.h"
#include "model/solids/solid_facts.h"

namespace raylift::viewer {
namespace {

constexpr double kMargin = 0.01;  // of the diagonal
constexpr double kMinSine = 0.1;  // of the angle between a view and the way of a handle

double aspect_of(const Resolution& window) {
  return static_cast<double>(window.width) / window.height;
}

Eigen::Vector3d middle_of_face(const Bounds& box, std::size_t face) {
  const auto axis = static_cast<int>(face / 2);
  Eigen::Vector3d middle = to_eigen(box.center());
  middle[axis] = (face % 2 == 0 ? box.min : box.max)[axis];
  return middle;
}

}  // namespace

std::pair<Eigen::Vector3d, Eigen::Vector3d> cursor_ray(const Camera& camera, const Cursor& cursor) {
  return camera.rays(aspect_of(cursor.window))
      .ray(2 * cursor.x / cursor.window.width - 1, 1 - 2 * cursor.y / cursor.window.height);
}

Bounds box_around(const Solids& solids, std::span<const std::uint32_t> instances) {
  // The measurer does not outlive the scene.
  SolidMeasurer measurer(std::shared_ptr<const Scene>(std::shared_ptr<const Scene>(), &solids.scene()));
  const Bounds box = measurer.box(instances);
  if (box.empty()) return box;
  const double diagonal = to_eigen(box.size()).norm();
  const Eigen::Vector3d margin = Eigen::Vector3d::Constant(diagonal > 0 ? kMargin * diagonal : 1);
  return {to_eigen(box.min) - margin, to_eigen(box.max) + margin};
}

Bounds find_box(const Solids& solids, std::string_view text) {
  if (const auto box = parse_box(text)) return *box;
  const Bounds box = box_around(solids, find_some(solids, text).solids);
  if (box.empty())
    throw Error(ErrorKind::usage, "the solids that match '" + cli::printable(text) + "' have no triangles",
                {solids.scene().source, ""});
  return box;
}

Eigen::Vector3d clip_entry(const Settings& settings, const Bounds& scene, const Eigen::Vector3d& origin,
                           const Eigen::Vector3d& direction) {
  double enters = 0, leaves = std::numeric_limits<double>::infinity();
  for (const ClipPlane& plane : settings.planes()) {
    const double along = plane.normal.dot(direction);
    if (along == 0) continue;
    const double at = (plane.offset_in(scene) - plane.normal.dot(origin)) / along;
    if (along < 0) enters = std::max(enters, at);
    if (along > 0) leaves = std::min(leaves, at);
  }
  if (settings.cuts_away()) return origin + (std::isfinite(leaves) ? std::max(0.0, leaves) : 0) * direction;
  return origin + enters * direction;
}

std::array<BoxHandle, kMaxPlanes> box_handles(const Camera& camera, const Bounds& box, const Resolution& window) {
  std::array<BoxHandle, kMaxPlanes> handles;
  const double aspect = aspect_of(window);
  for (std::size_t face = 0; face != handles.size(); ++face) {
    const Eigen::Vector3d middle = middle_of_face(box, face), in_image = camera.project(middle, aspect);
    const Eigen::Vector3d view = camera.orthographic ? camera.forward() : Eigen::Vector3d(middle - camera.eye());
    const double along = view[static_cast<Eigen::Index>(face / 2)];
    BoxHandle& handle = handles[face];
    handle.place = {0.5 * (1 + in_image.x()) * window.width, 0.5 * (1 - in_image.y()) * window.height};
    handle.depth = in_image.z();
    handle.seen = camera.orthographic || in_image.z() > 0;
    handle.movable = handle.seen && std::abs(along) <= std::sqrt(1 - kMinSine * kMinSine) * view.norm();
  }
  return handles;
}

std::optional<std::size_t> handle_under(const Camera& camera, const Bounds& box, const Cursor& cursor, double scale) {
  const auto handles = box_handles(camera, box, cursor.window);
  std::optional<std::size_t> best;
  for (std::size_t face = 0; face != handles.size(); ++face) {
    const BoxHandle& handle = handles[face];
    if (!handle.movable || (handle.place - Eigen::Vector2d(cursor.x, cursor.y)).norm() > kHandleReach * scale) continue;
    if (!best || handle.depth < handles[*best].depth) best = face;
  }
  return best;
}

Bounds with_face_at(const Camera& camera, Bounds box, std::size_t face, const Cursor& cursor, double least) {
  const auto axis = static_cast<int>(face / 2);
  const auto [origin, direction] = cursor_ray(camera, cursor);
  // The point of the handle's way that is nearest to the ray.
  const Eigen::Vector3d from = middle_of_face(box, face) - origin;
  const double along = direction[axis], sine_squared = 1 - along * along;
  if (!(sine_squared > 1e-9)) return box;
  const double step = (along * direction.dot(from) - from[axis]) / sine_squared;
  if (face % 2 == 0)
    box.min[axis] = std::min(box.min[axis] + step, box.max[axis] - least);
  else
    box.max[axis] = std::max(box.max[axis] + step, box.min[axis] + least);
  return box;
}

}  // namespace raylift::viewer
