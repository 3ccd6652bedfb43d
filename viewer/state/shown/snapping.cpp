// SPDX-License-Identifier: Apache-2.0
#include "state/shown/snapping.h"

#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace raylift::viewer {
namespace {

// How far a vertex or edge may lie behind or before the surface that was met, in millimetres that a pixel has there.
// Farther ones belong to the solid's other side.
constexpr double kDepthReach = 60;

/// Distances in the image, in pixels.
class ImageDistance {
 public:
  ImageDistance(const Camera& camera, const Cursor& cursor)
      : camera_(camera),
        size_(cursor.window.width, cursor.window.height),
        aspect_(size_.x() / size_.y()),
        at_(cursor.x, cursor.y) {}

  [[nodiscard]] double depth(const Eigen::Vector3d& p) const { return camera_.depth(p); }
  /// Infinite behind the eye.
  [[nodiscard]] double distance(const Eigen::Vector3d& p) const {
    if (!camera_.orthographic && depth(p) <= 1e-6 * camera_.distance) return std::numeric_limits<double>::infinity();
    const Eigen::Vector3d seen = camera_.project(p, aspect_);
    const Eigen::Vector2d place(0.5 * (1 + seen.x()) * size_.x(), 0.5 * (1 - seen.y()) * size_.y());
    return (place - at_).norm();
  }
  /// Millimetres of a pixel at this depth.
  [[nodiscard]] double pixel(double depth) const { return camera_.pixel_size(static_cast<int>(size_.y()), depth); }

 private:
  const Camera& camera_;
  Eigen::Vector2d size_;
  double aspect_;
  Eigen::Vector2d at_;
};

/// The point of a line between two points that is nearest to a ray.
Eigen::Vector3d nearest_on(const Eigen::Vector3d& a, const Eigen::Vector3d& b,
                           const std::pair<Eigen::Vector3d, Eigen::Vector3d>& ray) {
  const Eigen::Vector3d along = b - a, across = along - along.dot(ray.second) * ray.second;
  const double length = across.squaredNorm();
  if (!(length > 0)) return a;
  const Eigen::Vector3d to_ray = ray.first - a;
  return a + std::clamp(to_ray.dot(across) / length, 0.0, 1.0) * along;
}

bool clipped_away(const Settings& settings, const Bounds& scene, const Eigen::Vector3d& p) {
  const std::vector<ClipPlane> planes = settings.planes();
  const double slack = 1e-6 * to_eigen(scene.size()).norm();
  const auto outside = [&](const ClipPlane& plane) { return plane.normal.dot(p) > plane.offset_in(scene) + slack; };
  if (settings.cuts_away()) return !planes.empty() && std::none_of(planes.begin(), planes.end(), outside);
  return std::any_of(planes.begin(), planes.end(), outside);
}

}  // namespace

const std::vector<FeatureEdge>& Snapping::edges_of(const Scene& scene, std::uint32_t mesh) {
  const auto found = edges_.find(mesh);
  return found != edges_.end() ? found->second : edges_.emplace(mesh, feature_edges(scene.meshes[mesh])).first->second;
}

std::optional<SnapPoint> Snapping::find(const ShownScene& shown, std::span<const Picked> picked, bool at_cursor,
                                        const Cursor& cursor) {
  if (picked.empty()) return std::nullopt;
  const Scene& scene = *shown.scene;
  const ImageDistance place(shown.camera, cursor);
  const auto ray = cursor_ray(shown.camera, cursor);
  std::optional<SnapPoint> surface;
  if (at_cursor)
    if (const auto point = shown.point_of(picked.front(), cursor)) surface = {SnapPoint::To::face, *point};
  std::optional<Eigen::Vector3d> vertex, edge, centre;
  double to_vertex = kReach, to_edge = kReach, to_centre = kReach;
  std::set<std::uint32_t> seen;
  for (const Picked& one : picked) {
    const Instance& instance = scene.instances[one.instance];
    const Mesh& mesh = scene.meshes[instance.mesh];
    const bool first = seen.insert(one.instance).second;
    if (first) {
      const Eigen::Vector3d middle = shown.measurer->centre(one.instance);
      if (const double distance = place.distance(middle); distance < to_centre) {
        to_centre = distance;
        centre = middle;
      }
    }
    const EigenTransform to_world = to_eigen(instance.transform);
    const auto world = [&](std::uint32_t v) -> Eigen::Vector3d { return to_world * to_eigen(mesh.vertices[v]); };
    const std::uint32_t triangle = shown.triangle_of(one);
    if (triangle == kNone) continue;  // a cap has no vertices of the mesh
    const UInt3& corners = mesh.triangles[triangle];
    const auto met = shown.point_of(one, cursor);
    const double depth = place.depth(met ? *met : world(corners.x));
    const auto near_surface = [&](const Eigen::Vector3d& p) {
      return std::abs(place.depth(p) - depth) <= kDepthReach * place.pixel(depth) &&
             !clipped_away(shown.settings, scene.bounds, p);
    };
    const auto try_vertex = [&](const Eigen::Vector3d& p) {
      if (const double distance = place.distance(p); distance < to_vertex && near_surface(p)) {
        to_vertex = distance;
        vertex = p;
      }
    };
    for (const std::uint32_t corner : {corners.x, corners.y, corners.z}) try_vertex(world(corner));
    if (!first) continue;
    for (const FeatureEdge& line : edges_of(scene, instance.mesh)) {
      const Eigen::Vector3d a = world(line.from), b = world(line.to);
      const Eigen::Vector3d nearest = nearest_on(a, b, ray);
      const double distance = place.distance(nearest);
      if (distance >= kReach) continue;
      try_vertex(a);
      try_vertex(b);
      if (distance < to_edge && near_surface(nearest)) {
        to_edge = distance;
        edge = nearest;
      }
    }
  }
  if (centre && to_centre < to_vertex) return SnapPoint{SnapPoint::To::centre, *centre};
  if (vertex) return SnapPoint{SnapPoint::To::vertex, *vertex};
  if (edge) return SnapPoint{SnapPoint::To::edge, *edge};
  return surface;
}

}  // namespace raylift::viewer
