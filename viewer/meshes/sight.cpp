// SPDX-License-Identifier: Apache-2.0
#include "meshes/sight.h"

#include <raylift/geometry/scene/eigen.h>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

namespace raylift::viewer {

Sight sight_of(const Camera& camera, const Settings& settings, const Bounds& scene, const Resolution& image,
               std::optional<std::array<int, 2>> pixel) {
  Sight sight;
  sight.eye = camera.eye();
  sight.forward = camera.forward();
  sight.orthographic = camera.orthographic;
  sight.nearest = 1e-3 * camera.distance;  // the near plane lies nearer
  sight.opaque = settings.opacity >= 1 && !settings.wireframe && !settings.cuts_away();
  sight.pixels = image.height / (2 * camera.half_height()) * (camera.orthographic ? 1 : camera.distance);
  // Where triangles are visible or picked, they are those of the scene.
  const bool whole = pixel || settings.edges || settings.wireframe || settings.color == ColorBy::residency;
  sight.tolerance = whole ? 0 : static_cast<double>(settings.detail);

  Eigen::Matrix4d view = Eigen::Matrix4d::Identity();
  view.topLeftCorner<3, 3>() = camera.rotation();
  const Eigen::Matrix4d clip = camera.projection(static_cast<double>(image.width) / image.height, scene) * view;
  double left = -1, right = 1, below = -1, above = 1;
  if (pixel) {
    // A pixel more on each side: rasterisation rounds.
    const auto place = [](double at, int size) { return 2 * at / size - 1; };
    left = place((*pixel)[0] - 1, image.width);
    right = place((*pixel)[0] + 2, image.width);
    below = -place((*pixel)[1] + 2, image.height);
    above = -place((*pixel)[1] - 1, image.height);
  }
  const auto add = [](const Eigen::Vector4d& plane, std::vector<Eigen::Vector4d>& planes) {
    const double length = plane.head<3>().norm();
    if (length > 0) planes.emplace_back(plane / length);
  };
  const Eigen::Vector4d x = clip.row(0), y = clip.row(1), w = clip.row(3);
  add(x - left * w, sight.sides);
  add(right * w - x, sight.sides);
  add(y - below * w, sight.sides);
  add(above * w - y, sight.sides);
  // What is left around a box has no planes that all of it lies behind.
  if (settings.cuts_away()) return sight;
  for (const ClipPlane& plane : settings.planes()) {
    Eigen::Vector4d seen;
    seen << -plane.normal, plane.offset_in(scene) - plane.normal.dot(sight.eye);
    add(seen, sight.clips);
  }
  return sight;
}

double largest_scale(const Transform& transform) {
  const Eigen::Matrix3d linear = to_eigen(transform).linear();
  Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver;
  solver.computeDirect(linear.transpose() * linear, Eigen::EigenvaluesOnly);
  return std::sqrt(std::max(0.0, solver.eigenvalues()[2]));
}

}  // namespace raylift::viewer
