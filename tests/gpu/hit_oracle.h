// SPDX-License-Identifier: Apache-2.0
// What rays hit in a scene, by double arithmetic over all triangles in the world's frame. It shares nothing with
// raylift's queries: planes and distances from edges, no tree, no frame of a mesh.
#pragma once

#include <gtest/gtest.h>
#include <raylift/geometry/bvh/ray.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/scene/scene.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace raylift::test {

class HitOracle {
 public:
  struct Crossing {
    std::uint32_t instance = 0;
    std::uint32_t triangle = kNoTriangle;  // over all meshes, as in a scene of two levels
    bool from_inside = false;
    bool sure = false;  // farther from all edges, and from the ray's ends, than rounding explains
    double t = std::numeric_limits<double>::infinity();
    double t_error = 0;
    double blur = 0;  // how far rounding may move the point in the plane, in millimetres
    std::array<Eigen::Vector3d, 3> corners{Eigen::Vector3d::Zero(), Eigen::Vector3d::Zero(), Eigen::Vector3d::Zero()};
  };

  explicit HitOracle(const Scene& scene) {
    std::vector<std::uint32_t> first_triangle;
    std::uint32_t triangles = 0;
    for (const Mesh& mesh : scene.meshes) {
      first_triangle.push_back(triangles);
      triangles += static_cast<std::uint32_t>(mesh.triangles.size());
    }
    for (std::uint32_t i = 0; i != scene.instances.size(); ++i) {
      const Instance& instance = scene.instances[i];
      const double determinant = to_eigen(instance.transform).linear().determinant();
      if (determinant == 0) continue;
      Placed placed{i, first_triangle[instance.mesh], determinant < 0, {}, {}, {}, 0};
      const Mesh& mesh = scene.meshes[instance.mesh];
      Bounds box;
      for (const UInt3& t : mesh.triangles) {
        std::array<Eigen::Vector3d, 3> corners;
        for (int k = 0; k != 3; ++k) {
          const Float3& v = mesh.vertices[k == 0 ? t.x : k == 1 ? t.y : t.z];
          corners[static_cast<std::size_t>(k)] = to_eigen(instance.transform) * Eigen::Vector3d(v.x, v.y, v.z);
          box.add(corners[static_cast<std::size_t>(k)]);
        }
        placed.triangles.push_back(corners);
        placed.balls.push_back(ball_around(corners));
      }
      placed.center = to_eigen(box.center());
      placed.radius = 0.5 * to_eigen(box.size()).norm();
      if (!box.empty())
        reach_ = std::max({reach_, to_eigen(box.min).cwiseAbs().maxCoeff(), to_eigen(box.max).cwiseAbs().maxCoeff()});
      placed_.push_back(std::move(placed));
    }
  }

  /// The nearest crossing; not `sure` where rounding decides which one it is, or whether there is one.
  [[nodiscard]] Crossing operator()(const Ray& ray) const {
    std::vector<Crossing> met = all(ray);
    if (met.empty()) {
      Crossing none;
      none.sure = true;
      return none;
    }
    const auto nearest =
        std::min_element(met.begin(), met.end(), [](const Crossing& a, const Crossing& b) { return a.t < b.t; });
    for (const Crossing& other : met)
      if (&other != &*nearest && other.t - other.t_error <= nearest->t + nearest->t_error) nearest->sure = false;
    return *nearest;
  }

  /// All crossings, and what may be one.
  [[nodiscard]] std::vector<Crossing> all(const Ray& ray) const {
    const Eigen::Vector3d o(ray.origin.x, ray.origin.y, ray.origin.z);
    const Eigen::Vector3d d(ray.direction.x, ray.direction.y, ray.direction.z);
    const Line line(o, d.normalized());
    std::vector<Crossing> met;
    for (const Placed& placed : placed_) {
      const Eigen::Vector3d to = placed.center - o;
      const double along = to.dot(d) / d.norm();
      if (to.squaredNorm() - along * along > placed.radius * placed.radius * 1.01 + 1) continue;
      for (std::uint32_t k = 0; k != placed.triangles.size(); ++k) {
        if (line.passes(placed.balls[k], reach_)) continue;
        Crossing crossing;
        if (!meets(o, d, ray, placed.triangles[k], crossing)) continue;
        crossing.instance = placed.instance;
        crossing.triangle = placed.first_triangle + k;
        crossing.from_inside = crossing.from_inside != placed.mirrored;
        met.push_back(crossing);
      }
    }
    return met;
  }

 private:
  struct Ball {
    double x = 0, y = 0, z = 0, radius = 0;
  };
  /// Plain numbers: under a sanitizer, unoptimised, Eigen's vectors took minutes here.
  struct Line {
    Line(const Eigen::Vector3d& o, const Eigen::Vector3d& unit)
        : from{o.x(), o.y(), o.z()}, along{unit.x(), unit.y(), unit.z()} {}
    /// Whether the line is farther from the ball than rounding moves either.
    [[nodiscard]] bool passes(const Ball& ball, double reach) const {
      const double x = ball.x - from[0], y = ball.y - from[1], z = ball.z - from[2];
      const double t = x * along[0] + y * along[1] + z * along[2];
      const double far = ball.radius * 1.01 + 0x1p-16 * (reach + std::abs(t));
      return x * x + y * y + z * z - t * t > far * far;
    }
    double from[3], along[3];
  };
  struct Placed {
    std::uint32_t instance, first_triangle;
    bool mirrored;
    std::vector<std::array<Eigen::Vector3d, 3>> triangles;
    std::vector<Ball> balls;  // around each triangle
    Eigen::Vector3d center;
    double radius;
  };

  static Ball ball_around(const std::array<Eigen::Vector3d, 3>& corners) {
    const Eigen::Vector3d center = (corners[0] + corners[1] + corners[2]) / 3;
    double radius = 0;
    for (const Eigen::Vector3d& corner : corners) radius = std::max(radius, (corner - center).norm());
    return {center.x(), center.y(), center.z(), radius};
  }

  bool meets(const Eigen::Vector3d& o, const Eigen::Vector3d& d, const Ray& ray,
             const std::array<Eigen::Vector3d, 3>& corners, Crossing& crossing) const {
    // Transforms, planes and points are rounded to floats along the way: 32 units of the largest coordinate.
    const double rounding = 0x1p-19 * std::max(reach_, o.cwiseAbs().maxCoeff());
    Eigen::Vector3d normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
    if (!(normal.norm() > 0)) return false;
    normal.normalize();
    const double speed = normal.dot(d);
    if (speed == 0) return false;
    crossing.t = normal.dot(corners[0] - o) / speed;
    crossing.t_error = rounding / std::abs(speed) + rounding / d.norm();
    crossing.blur = rounding * (1 + d.norm() / std::abs(speed));
    const Eigen::Vector3d point = o + crossing.t * d;
    double within = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k != 3; ++k) {
      const Eigen::Vector3d edge = corners[(k + 1) % 3] - corners[k];
      within = std::min(within, normal.dot(edge.cross(point - corners[k])) / edge.norm());
    }
    const auto tmin = static_cast<double>(ray.tmin);
    const auto tmax = static_cast<double>(ray.tmax);
    if (within < -crossing.blur || crossing.t < tmin - crossing.t_error || crossing.t > tmax + crossing.t_error)
      return false;
    crossing.sure =
        within > crossing.blur && crossing.t > tmin + crossing.t_error && crossing.t < tmax - crossing.t_error;
    crossing.from_inside = speed > 0;
    crossing.corners = corners;
    return true;
  }

  std::vector<Placed> placed_;
  double reach_ = 0;
};

/// Compares hits in a scene of two levels with the oracle's, for all rays of which it is sure: nearly all. Returns how
/// many of these hit something.
inline std::size_t expect_hits(const Scene& scene, const std::vector<Ray>& rays, const std::vector<Hit>& hits) {
  const HitOracle oracle(scene);
  std::size_t found = 0, unsure = 0;
  for (std::size_t i = 0; i != rays.size(); ++i) {
    const HitOracle::Crossing wanted = oracle(rays[i]);
    const Hit& hit = hits[i];
    if (!wanted.sure) {
      ++unsure;
      continue;
    }
    EXPECT_EQ(hit.triangle, wanted.triangle) << "ray " << i;
    if (hit.triangle != wanted.triangle || !hit.valid()) continue;
    ++found;
    EXPECT_EQ(hit.instance, wanted.instance) << "ray " << i;
    EXPECT_EQ(hit.from_inside != 0, wanted.from_inside) << "ray " << i;
    EXPECT_LE(std::abs(static_cast<double>(hit.t) - wanted.t), wanted.t_error) << "ray " << i;
    const auto& [a, b, c] = wanted.corners;
    const Eigen::Vector3d by_weights = a + static_cast<double>(hit.u) * (b - a) + static_cast<double>(hit.v) * (c - a);
    const Ray& ray = rays[i];
    const Eigen::Vector3d point = Eigen::Vector3d(ray.origin.x, ray.origin.y, ray.origin.z) +
                                  wanted.t * Eigen::Vector3d(ray.direction.x, ray.direction.y, ray.direction.z);
    EXPECT_LE((by_weights - point).norm(), wanted.blur) << "ray " << i;
  }
  EXPECT_LT(unsure, rays.size() / 50);
  return found;
}

}  // namespace raylift::test
