// SPDX-License-Identifier: Apache-2.0
// Plane polygons: triangles, flat corners and crossings.
#include "import/gdml/shapes/polygon.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <random>
#include <utility>

namespace raylift::gdml {
namespace {

/// A polygon around the origin whose corners lie at random distances: simple, and anything but convex.
Polygon star(std::uint32_t corners, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> distance(0.1, 1);
  Polygon polygon;
  for (std::uint32_t i = 0; i != corners; ++i) {
    const double angle = 2 * std::numbers::pi * i / corners, r = distance(random);
    polygon.push_back({r * std::cos(angle), r * std::sin(angle)});
  }
  return polygon;
}

/// Two arms that wind around the origin, one within the other.
Polygon spiral(std::uint32_t corners) {
  Polygon polygon;
  const auto add = [&](std::uint32_t i, double width) {
    const double angle = 0.2 * i;
    polygon.push_back({(angle + width) * std::cos(angle), (angle + width) * std::sin(angle)});
  };
  for (std::uint32_t i = 0; i != corners / 2; ++i) add(i + 10, 2);
  for (std::uint32_t i = corners / 2; i-- != 0;) add(i + 10, 0);
  return polygon;
}

/// All triangles have an area, their areas sum to the polygon's, and each edge within has two of them.
void expect_partition(const Polygon& polygon) {
  const std::vector<UInt3> triangles = triangulate_polygon(polygon);
  ASSERT_EQ(triangles.size(), polygon.size() - 2);
  double sum = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> uses;
  for (const UInt3& t : triangles) {
    const double area = signed_area({polygon[t.x], polygon[t.y], polygon[t.z]});
    EXPECT_GT(area, 0);
    sum += area;
    for (const auto& [a, b] : {std::pair(t.x, t.y), std::pair(t.y, t.z), std::pair(t.z, t.x)}) ++uses[{a, b}];
  }
  EXPECT_NEAR(sum / signed_area(polygon), 1, 1e-12);
  const auto n = static_cast<std::uint32_t>(polygon.size());
  for (const auto& [edge, times] : uses) {
    EXPECT_EQ(times, 1);
    EXPECT_EQ(uses.count({edge.second, edge.first}), (edge.first + 1) % n == edge.second ? 0U : 1U);
  }
}

TEST(GdmlPolygon, IsDividedIntoTriangles) {
  for (unsigned seed = 0; seed != 50; ++seed) expect_partition(star(5 + seed, seed));
  expect_partition(spiral(400));
  // Corners on straight sides, and far from the origin.
  Polygon divided;
  const Polygon corners{{1000, 0}, {1003, 0}, {1003, 1}, {1001, 1}, {1001, 3}, {1000, 3}};
  for (std::size_t k = 0; k != corners.size(); ++k)
    for (int i = 0; i != 7; ++i) {
      const Point2 &a = corners[k], &b = corners[(k + 1) % corners.size()];
      divided.push_back({a.x + (b.x - a.x) * i / 7, a.y + (b.y - a.y) * i / 7});
    }
  expect_partition(divided);
  expect_partition({{0, 0}, {1, 0}, {2, 0}, {0, 1}});
}

TEST(GdmlPolygon, IsDividedInTimeHoweverItWinds) {
  EXPECT_EQ(triangulate_polygon(spiral(5000)).size(), 4998U);
  EXPECT_EQ(triangulate_polygon(star(5000, 1)).size(), 4998U);
  EXPECT_FALSE(crosses_itself(star(5000, 1), Touching::counts));
}

TEST(GdmlPolygon, LosesCornersThatAreFlat) {
  const Polygon square{{0, 0}, {1, 0}, {1, 0}, {2, 0}, {2, 2}, {0, 2}, {0, 1}, {0, 0}};
  const Polygon clean = without_flat_corners(square);
  EXPECT_EQ(clean.size(), 4U);
  EXPECT_EQ(signed_area(clean), 4);
  // A spike has no area.
  EXPECT_EQ(without_flat_corners({{0, 0}, {2, 0}, {2, 2}, {2, 5}, {2, 2}, {0, 2}}).size(), 4U);
  EXPECT_TRUE(without_flat_corners({{0, 0}, {1, 1}, {2, 2}, {0.5, 0.5}}).empty());
  EXPECT_TRUE(without_flat_corners({{1, 1}, {1, 1}, {1, 1}}).empty());
  EXPECT_TRUE(without_flat_corners({}).empty());
}

TEST(GdmlPolygon, CrossesItself) {
  const Polygon bow{{0, 0}, {1, 1}, {1, 0}, {0, 1}}, touching{{0, 0}, {4, 0}, {4, 4}, {2, 0}, {0, 4}};
  const Polygon overlapping{{0, 0}, {4, 0}, {4, 2}, {3, 0}, {1, 0}, {0, 2}};
  EXPECT_TRUE(crosses_itself(bow, Touching::allowed));
  EXPECT_FALSE(crosses_itself(touching, Touching::allowed));
  EXPECT_TRUE(crosses_itself(touching, Touching::counts));
  EXPECT_TRUE(crosses_itself(overlapping, Touching::counts));
  for (unsigned seed = 0; seed != 20; ++seed) {
    Polygon polygon = star(30, seed);
    EXPECT_FALSE(crosses_itself(polygon, Touching::counts));
    std::swap(polygon[3], polygon[17]);
    EXPECT_TRUE(crosses_itself(polygon, Touching::allowed));
  }
}

}  // namespace
}  // namespace raylift::gdml
