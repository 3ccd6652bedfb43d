// SPDX-License-Identifier: Apache-2.0
// Triangles of closed and of random shapes, and random rays, for tests of ray queries.
#pragma once

#include <raylift/geometry/bvh/ray.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

namespace raylift::test {

struct Triangles {
  std::vector<Float3> vertices;
  std::vector<UInt3> triangles;
};

/// A closed longitude-latitude sphere of n x n cells whose radius varies by `bumps`, normals outward.
inline Triangles bumpy_sphere(std::uint32_t n, double radius = 1000, double bumps = 0.1) {
  Triangles mesh;
  const double pi = std::numbers::pi;
  for (std::uint32_t i = 0; i <= n; ++i) {
    const double theta = pi * i / n;
    for (std::uint32_t j = 0; j < n; ++j) {
      const double phi = 2 * pi * j / n;
      const double r = i == 0 || i == n ? radius : radius * (1 + bumps * std::sin(7 * theta) * std::cos(5 * phi));
      mesh.vertices.push_back({static_cast<float>(r * std::sin(theta) * std::cos(phi)),
                               static_cast<float>(r * std::sin(theta) * std::sin(phi)),
                               static_cast<float>(r * std::cos(theta))});
    }
  }
  // A pole is one vertex.
  const auto at = [n](std::uint32_t i, std::uint32_t j) { return i == 0 ? 0 : i == n ? n * n : i * n + j % n; };
  for (std::uint32_t i = 0; i < n; ++i)
    for (std::uint32_t j = 0; j < n; ++j) {
      if (i + 1 < n) mesh.triangles.push_back({at(i, j), at(i + 1, j), at(i + 1, j + 1)});
      if (i > 0) mesh.triangles.push_back({at(i, j), at(i + 1, j + 1), at(i, j + 1)});
    }
  return mesh;
}

/// Triangles of about `size` anywhere in a cube of edge 2, some without area, some twice.
inline Triangles soup(std::uint32_t count, float size, std::uint32_t seed) {
  Triangles mesh;
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> unit(-1, 1);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Float3 center{unit(random), unit(random), unit(random)};
    for (int k = 0; k < 3; ++k)
      mesh.vertices.push_back(
          {center.x + size * unit(random), center.y + size * unit(random), center.z + size * unit(random)});
    UInt3 triangle{3 * i, 3 * i + 1, 3 * i + 2};
    if (i % 17 == 16) triangle.z = triangle.y;
    if (i % 19 == 18) triangle = mesh.triangles[i - 7];
    mesh.triangles.push_back(triangle);
  }
  return mesh;
}

/// A number of [0, 1), that of std::uniform_real_distribution<double>. That of libstdc++ computes two logarithms for
/// each number unless the compiler has them built in, and Clang does not: a third of the time of tests that trace many
/// rays.
inline double uniform(std::mt19937& random) {
  const double low = static_cast<double>(random()), high = static_cast<double>(random());
  return std::min((low + high * 0x1p32) * 0x1p-64, 1 - 0x1p-53);
}

/// Isotropic directions from a ball.
class RandomRays {
 public:
  RandomRays(double radius, std::uint32_t seed) : random_(seed), radius_(radius) {}
  Ray operator()() {
    Ray ray;
    ray.origin = LocalPoint(scaled(in_ball(), radius_));
    ray.direction = scaled(in_ball(), 1);
    const float length = std::sqrt(ray.direction.x * ray.direction.x + ray.direction.y * ray.direction.y +
                                   ray.direction.z * ray.direction.z);
    ray.direction = {ray.direction.x / length, ray.direction.y / length, ray.direction.z / length};
    return ray;
  }

 private:
  struct Point {
    double x, y, z;
  };
  Point in_ball() {
    const auto unit = [&] { return 2 * uniform(random_) - 1; };
    while (true) {
      const Point p{unit(), unit(), unit()};
      const double square = p.x * p.x + p.y * p.y + p.z * p.z;
      if (square <= 1 && square > 1e-6) return p;
    }
  }
  static Float3 scaled(Point p, double s) {
    return {static_cast<float>(p.x * s), static_cast<float>(p.y * s), static_cast<float>(p.z * s)};
  }
  std::mt19937 random_;
  double radius_;
};

}  // namespace raylift::test
