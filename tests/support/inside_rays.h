// SPDX-License-Identifier: Apache-2.0
// Rays that start inside of closed shapes. For tests and benchmarks.
#pragma once

#include <random>
#include <vector>

#include "exact_shapes.h"

namespace raylift::test {

/// Where a ray goes.
enum class Aim { isotropic, along_axis, grazing, axis_parallel, vertex, edge, near_edge };
inline constexpr int kAims = 7;

/// Rays that start inside of a convex shape: each start is on the inner side of the plane of every face, by more than
/// two steps of its coordinates. From such a point every ray leaves the shape once, and nothing else happens to it: all
/// faces are seen from behind, and a closed surface that is only seen from behind covers each direction equally often.
class InsideRays {
 public:
  InsideRays(const ClosedShape& shape, std::uint32_t seed) : shape_(shape), random_(seed) {
    for (const UInt3& t : shape.mesh.triangles) {
      const Point a = point(t.x), n = cross(point(t.y), point(t.z), a);
      const long double length = std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
      if (!(length > 0)) throw std::logic_error("shape '" + shape.name + "' has a face without area");
      planes_.push_back({{n[0] / length, n[1] / length, n[2] / length}, a});
    }
    // The middle of all vertices, or of a subset where that is too near to a face.
    for (int attempt = 0; !inside(to_float(center_ = attempt == 0 ? shape.center : mixture(6))); ++attempt)
      if (attempt == 10000) throw std::logic_error("no point is inside of shape '" + shape.name + "'");
  }

  /// A point that is inside.
  [[nodiscard]] Float3 center() const { return to_float(center_); }

  /// Whether a point is inside, with the margin.
  [[nodiscard]] bool inside(Float3 p) const {
    const double largest = std::max({std::abs(p.x), std::abs(p.y), std::abs(p.z)});
    const long double margin = 2 * float_step(largest);
    return std::all_of(planes_.begin(), planes_.end(), [&](const Plane& plane) {
      return plane.normal[0] * (plane.at[0] - p.x) + plane.normal[1] * (plane.at[1] - p.y) +
                 plane.normal[2] * (plane.at[2] - p.z) >
             margin;
    });
  }

  [[nodiscard]] Float3 start() {
    for (int attempt = 0; attempt < 30; ++attempt) {
      const double s = std::cbrt(uniform());
      const Float3 p = to_float(center_ + s * (mixture(2 + random_() % 3) - center_));
      if (inside(p)) return p;
    }
    return to_float(center_);
  }

  [[nodiscard]] Ray operator()(Aim aim) {
    Ray ray;
    ray.origin = LocalPoint(start());
    const Vector3d o = to_double(ray.origin);
    Vector3d d = isotropic();
    const UInt3 t = shape_.mesh.triangles[random_() % shape_.mesh.triangles.size()];
    const Vector3d a = vertex(t.x), b = vertex(t.y), c = vertex(t.z);
    switch (aim) {
      case Aim::isotropic:
        break;
      case Aim::along_axis:
        d = (random_() % 2 == 0 ? 1.0 : -1.0) * shape_.axis + std::pow(10.0, -8 * uniform()) * d;
        break;
      case Aim::grazing: {  // along a face, and a little towards it
        const Vector3d normal = (b - a).cross(c - a).normalized();
        const Vector3d along = (uniform() - 0.5) * (b - a).normalized() + (uniform() - 0.5) * (c - a).normalized();
        d = along.normalized() + std::pow(10.0, -1 - 6 * uniform()) * normal;
        break;
      }
      case Aim::axis_parallel: {
        const auto axis = static_cast<int>(random_() % 3);
        const double zero = random_() % 2 == 0 ? 0.0 : -0.0;
        if (random_() % 2 == 0)
          d = Vector3d::Constant(zero), d[axis] = random_() % 2 == 0 ? 1 : -1;
        else
          d[axis] = zero;
        break;
      }
      case Aim::vertex:
        return through(a, ray);
      case Aim::edge:
        return through(0.5 * (a + b), ray);
      case Aim::near_edge: {
        const double s = uniform();
        d = a + s * (b - a) - o;
        break;
      }
    }
    d.normalize();
    if (random_() % 4 == 0) d *= std::pow(10.0, 6 * uniform() - 3);
    ray.direction = to_float(d);
    if (ray.direction == Float3{0, 0, 0}) ray.direction.x = 1;
    return ray;
  }

  /// How many rays through vertices and edges met their target exactly.
  [[nodiscard]] std::size_t exact() const { return exact_; }

 private:
  using Point = std::array<long double, 3>;
  struct Plane {
    Point normal, at;
  };

  [[nodiscard]] Point point(std::uint32_t i) const {
    const Float3 v = shape_.mesh.vertices[i];
    return {v.x, v.y, v.z};
  }
  static Point cross(const Point& b, const Point& c, const Point& a) {
    const Point e{b[0] - a[0], b[1] - a[1], b[2] - a[2]}, f{c[0] - a[0], c[1] - a[1], c[2] - a[2]};
    return {e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]};
  }
  [[nodiscard]] Vector3d vertex(std::uint32_t i) const { return to_double(shape_.mesh.vertices[i]); }
  double uniform() { return test::uniform(random_); }
  Vector3d isotropic() {
    std::normal_distribution<double> normal;
    const double x = normal(random_), y = normal(random_), z = normal(random_);
    return Vector3d(x, y, z).normalized();
  }
  /// A random mean of some vertices.
  Vector3d mixture(std::size_t count) {
    Vector3d sum = Vector3d::Zero();
    double weights = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const double weight = -std::log(1 - uniform());
      sum += weight * vertex(static_cast<std::uint32_t>(random_() % shape_.mesh.vertices.size()));
      weights += weight;
    }
    return sum / weights;
  }
  /// Through a point, exactly where floats allow it: the start moves by some steps, so that start + direction is the
  /// point. Else as nearly as floats do.
  Ray through(const Vector3d& target, Ray ray) {
    for (int attempt = 0; attempt < 20; ++attempt, ray.origin = LocalPoint(start())) {
      const Vector3d o = to_double(ray.origin);
      Vector3d d;
      for (int a = 0; a < 3; ++a) {
        const double step = float_step(std::max(std::abs(target[a]), std::abs(o[a])));
        d[a] = std::round((target[a] - o[a]) / step) * step;
      }
      const Vector3d moved = target - d, back = moved + d;
      // target - d is exact if both ways back are: the terms' difference, and each term.
      if (d.norm() == 0 || back != target || target - moved != d || to_double(to_float(moved)) != moved ||
          to_double(to_float(d)) != d)
        continue;
      if (!inside(to_float(moved))) continue;
      ray.origin = LocalPoint(to_float(moved));
      ray.direction = to_float(d);
      ++exact_;
      return ray;
    }
    ray.direction = to_float(target - to_double(ray.origin));
    if (ray.direction == Float3{0, 0, 0}) ray.direction.x = 1;
    return ray;
  }

  const ClosedShape& shape_;
  std::vector<Plane> planes_;
  std::mt19937 random_;
  Vector3d center_;
  std::size_t exact_ = 0;
};

}  // namespace raylift::test
