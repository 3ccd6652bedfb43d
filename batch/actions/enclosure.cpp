// SPDX-License-Identifier: Apache-2.0
#include "enclosure.h"

#include <raylift/geometry/checks/check.h>
#include <raylift/geometry/scene/eigen.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <Eigen/Geometry>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <unordered_map>

namespace raylift::batch {
namespace {

using Eigen::Vector3d;

constexpr int kCandidates = 64;

Vector3d corner(const Mesh& mesh, std::uint32_t index) {
  const Float3 v = mesh.vertices[index];
  return {v.x, v.y, v.z};
}

/// The solid angle of a triangle seen from the origin, with its winding's sign: A. Van Oosterom and J. Strackee, "The
/// solid angle of a plane triangle" (IEEE Trans. Biomed. Eng. 30(2), 1983).
double solid_angle(const Vector3d& a, const Vector3d& b, const Vector3d& c) {
  const double la = a.norm(), lb = b.norm(), lc = c.norm();
  return 2 * std::atan2(a.dot(b.cross(c)), la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb);
}

/// The squared distance of a segment from the origin.
double square_to_segment(const Vector3d& a, const Vector3d& b) {
  const Vector3d ab = b - a;
  const double length = ab.squaredNorm();
  const double t = length > 0 ? std::clamp(-a.dot(ab) / length, 0.0, 1.0) : 0.0;
  return (a + t * ab).squaredNorm();
}

/// The squared distance of a triangle from the origin: to its plane where the foot lies within, else to an edge.
double square_to_triangle(const Vector3d& a, const Vector3d& b, const Vector3d& c) {
  const Vector3d normal = (b - a).cross(c - a);
  const double area = normal.squaredNorm();
  if (area > 0 && a.cross(b).dot(normal) >= 0 && b.cross(c).dot(normal) >= 0 && c.cross(a).dot(normal) >= 0) {
    const double height = a.dot(normal);
    return height * height / area;
  }
  return std::min({square_to_segment(a, b), square_to_segment(b, c), square_to_segment(c, a)});
}

struct Surroundings {
  double angle = 0;  // of all triangles: 4 pi inside
  double square = std::numeric_limits<double>::infinity();
};

/// Whether a ball lies within a closed mesh.
bool within(const Mesh& mesh, const Vector3d& center, double radius) {
  const auto add = [&](const tbb::blocked_range<std::size_t>& range, Surroundings sum) {
    for (std::size_t i = range.begin(); i != range.end(); ++i) {
      const UInt3 t = mesh.triangles[i];
      const Vector3d a = corner(mesh, t.x) - center, b = corner(mesh, t.y) - center, c = corner(mesh, t.z) - center;
      sum.angle += solid_angle(a, b, c);
      sum.square = std::min(sum.square, square_to_triangle(a, b, c));
    }
    return sum;
  };
  const Surroundings all = tbb::parallel_reduce(tbb::blocked_range<std::size_t>(0, mesh.triangles.size(), 4096),
                                                Surroundings{}, add, [](const Surroundings& x, const Surroundings& y) {
                                                  return Surroundings{x.angle + y.angle, std::min(x.square, y.square)};
                                                });
  // A little more than the ball: coordinates of rays are rounded to floats.
  const double needed = radius * (1 + 1e-5) + center.cwiseAbs().maxCoeff() * 1e-6;
  return all.angle > 2 * std::numbers::pi && all.square > needed * needed;
}

}  // namespace

std::optional<std::uint32_t> enclosing_solid(const Scene& scene, const Ball& ball) {
  struct Known {
    Bounds bounds;
    std::optional<bool> watertight;
  };
  std::unordered_map<std::uint32_t, Known> meshes;
  int candidates = 0;
  for (std::uint32_t i = 0; i != scene.instances.size() && candidates != kCandidates; ++i) {
    const Instance& instance = scene.instances[i];
    const Mesh& mesh = scene.meshes[instance.mesh];
    const Eigen::Matrix3d linear = to_eigen(instance.transform).linear();
    if (mesh.triangles.empty() || linear.determinant() == 0) continue;
    const auto [known, is_new] = meshes.try_emplace(instance.mesh);
    if (is_new) known->second.bounds = mesh_bounds(mesh);
    // In the mesh's frame, and with a radius there that is no smaller on any axis.
    const Vector3d center = to_eigen(instance.transform).inverse() * ball.center;
    const double radius = ball.radius / linear.jacobiSvd().singularValues()(2);
    const Vector3d margin = Vector3d::Constant(radius);
    if (!known->second.bounds.contains(Bounds{center - margin, center + margin})) continue;
    ++candidates;
    if (!known->second.watertight) known->second.watertight = check(mesh).watertight();
    if (*known->second.watertight && within(mesh, center, radius)) return i;
  }
  return std::nullopt;
}

}  // namespace raylift::batch
