// SPDX-License-Identifier: Apache-2.0
// The tree leads a ray to the face that a loop over all triangles finds.
#include "checks/triangle_tree.h"

#include <gtest/gtest.h>

#include <random>

namespace raylift {
namespace {

using Eigen::Vector3d;

constexpr double kBeyond = std::numeric_limits<double>::infinity();

/// Where a ray meets a triangle's plane, if that is in the triangle.
double hit(const Vector3d& origin, const Vector3d& direction, const Vector3d& a, const Vector3d& b, const Vector3d& c) {
  const Vector3d normal = (b - a).cross(c - a);
  const double distance = normal.dot(a - origin) / normal.dot(direction);
  if (!(distance >= 0)) return kBeyond;
  const Vector3d p = origin + distance * direction;
  for (const auto& [from, to] : {std::pair(a, b), std::pair(b, c), std::pair(c, a)})
    if ((to - from).cross(p - from).dot(normal) < 0) return kBeyond;
  return distance;
}

TEST(TriangleTree, LeadsToTheNearestTriangle) {
  std::mt19937 engine(7);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine);
  };
  const auto vector = [&](double most) {
    return Vector3d(uniform(-most, most), uniform(-most, most), uniform(-most, most));
  };
  for (const std::size_t count : {1U, 2U, 4U, 5U, 16U, 17U, 3000U}) {
    std::vector<Vector3d> vertices;
    std::vector<UInt3> triangles;
    for (std::uint32_t i = 0; i != count; ++i) {
      const Vector3d middle = Vector3d(1e6, 0, 0) + vector(100);
      // Far apart by the middle, near each other in z: as the faces of films.
      for (int k = 0; k != 3; ++k) vertices.emplace_back(middle + vector(20).cwiseProduct(Vector3d(1, 1, 1e-6)));
      triangles.push_back({3 * i, 3 * i + 1, 3 * i + 2});
    }
    const TriangleTree tree(vertices, triangles), unsorted(vertices, triangles, TriangleTree::Order::as_given);
    int hits = 0;
    for (int ray = 0; ray != 300; ++ray) {
      const Vector3d origin = Vector3d(1e6, 0, 0) + vector(100);
      // Along an axis too, where a product with an infinite number is none.
      const Vector3d direction = ray % 3 == 0 ? Vector3d::Unit(ray / 3 % 3) : vector(1).normalized();
      const auto distance = [&](std::uint32_t i) {
        const UInt3& t = triangles[i];
        return hit(origin, direction, vertices[t.x], vertices[t.y], vertices[t.z]);
      };
      double expected = kBeyond;
      for (std::uint32_t i = 0; i != count; ++i) expected = std::min(expected, distance(i));
      double nearest = kBeyond;
      std::size_t visits = 0;
      tree.walk(origin, direction, 0, [&](std::uint32_t i) {
        ++visits;
        return nearest = std::min(nearest, distance(i));
      });
      EXPECT_EQ(nearest, expected);
      nearest = kBeyond;
      unsorted.walk(origin, direction, 0, [&](std::uint32_t i) { return nearest = std::min(nearest, distance(i)); });
      EXPECT_EQ(nearest, expected);
      if (count == 3000) {
        EXPECT_LT(visits, 1000U);
      }
      hits += nearest == kBeyond ? 0 : 1;
    }
    if (count == 3000) {
      EXPECT_GT(hits, 30);
    }
  }
}

TEST(TriangleTree, OfNothingHasNothing) {
  const TriangleTree tree({}, {});
  tree.walk({0, 0, 0}, {0, 0, 1}, 0, [](std::uint32_t) {
    ADD_FAILURE();
    return 0.0;
  });
  EXPECT_EQ(tree.reach(), 0);
}

}  // namespace
}  // namespace raylift
