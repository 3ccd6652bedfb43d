// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <array>
#include <limits>
#include <numeric>
#include <random>

#include "geometry/src/scene/weld.h"
#include "support/effort.h"
#include "support/expect_error.h"
#include "support/meshes.h"

namespace raylift {
namespace {

using test::expect_error;

struct Welded {
  std::vector<Float3> vertices;
  std::vector<UInt3> triangles;
  bool operator==(const Welded&) const = default;
};

Welded welded(Mesh mesh, double tolerance = 0) {
  weld(mesh, tolerance);
  return {std::move(mesh.vertices), std::move(mesh.triangles)};
}

double distance_squared(const Float3& a, const Float3& b) {
  const double x = double{a.x} - double{b.x};
  const double y = double{a.y} - double{b.y};
  const double z = double{a.z} - double{b.z};
  return x * x + y * y + z * z;
}

/// The contract of weld.h, pair by pair.
Welded brute_force(const Mesh& mesh, double tolerance) {
  std::vector<std::uint32_t> group(mesh.vertices.size());
  std::iota(group.begin(), group.end(), 0U);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i != group.size(); ++i)
      for (std::size_t j = 0; j != i; ++j)
        if (group[i] != group[j] && distance_squared(mesh.vertices[i], mesh.vertices[j]) <= tolerance * tolerance) {
          group[i] = group[j] = std::min(group[i], group[j]);
          changed = true;
        }
  }
  Welded result;
  std::vector<std::uint32_t> moved(group.size());
  for (std::uint32_t i = 0; i != group.size(); ++i)
    if (group[i] == i) {
      moved[i] = static_cast<std::uint32_t>(result.vertices.size());
      result.vertices.push_back(mesh.vertices[i]);
    }
  for (const UInt3& t : mesh.triangles)
    result.triangles.push_back({moved[group[t.x]], moved[group[t.y]], moved[group[t.z]]});
  return result;
}

/// Triangles over vertices drawn from `place`.
template <class Place>
Mesh random_mesh(unsigned seed, std::size_t vertices, const Place& place) {
  std::mt19937 random(seed);
  Mesh mesh;
  for (std::size_t i = 0; i != vertices; ++i) mesh.vertices.push_back(place(random));
  std::uniform_int_distribution<std::uint32_t> index(0, static_cast<std::uint32_t>(vertices - 1));
  for (std::size_t i = 0; i != vertices; ++i) mesh.triangles.push_back({index(random), index(random), index(random)});
  return mesh;
}

Float3 grid_place(std::mt19937& random) {
  const auto coordinate = [&] { return random() % 5 == 0 ? -0.0F : static_cast<float>(random() % 6); };
  return {coordinate(), coordinate(), coordinate()};
}

Float3 cube_place(std::mt19937& random) {
  std::uniform_real_distribution<float> coordinate(-1, 1);
  return {coordinate(random), coordinate(random), coordinate(random)};
}

TEST(Weld, MergesEqualVerticesAndKeepsTheFirstOnesInOrder) {
  Mesh mesh;
  mesh.vertices = {{1, 2, 3}, {4, 5, 6}, {1, 2, 3}, {0, 0, 0}, {4, 5, 6}, {1, 2, 3.0000002F}};
  mesh.triangles = {{5, 4, 3}, {0, 1, 2}};
  weld(mesh);
  EXPECT_EQ(mesh.vertices, (std::vector<Float3>{{1, 2, 3}, {4, 5, 6}, {0, 0, 0}, {1, 2, 3.0000002F}}));
  EXPECT_EQ(mesh.triangles, (std::vector<UInt3>{{3, 1, 2}, {0, 1, 0}}));
}

TEST(Weld, TakesZeroAndMinusZeroForEqual) {
  Mesh mesh;
  mesh.vertices = {{-0.0F, 1, 0.0F}, {0.0F, 1, -0.0F}};
  mesh.triangles = {{0, 1, 1}};
  weld(mesh);
  ASSERT_EQ(mesh.vertices.size(), 1U);
  EXPECT_TRUE(std::signbit(mesh.vertices[0].x)) << "the first vertex as it was";
  EXPECT_EQ(mesh.triangles[0], (UInt3{0, 0, 0}));
}

TEST(Weld, RestoresAMeshWhoseTrianglesWereTornApart) {
  const Mesh sphere = test::sphere(4);
  const Mesh mesh = test::unwelded(sphere);
  const Welded result = welded(mesh);
  EXPECT_EQ(result.vertices.size(), sphere.vertices.size());
  ASSERT_EQ(result.triangles.size(), mesh.triangles.size());
  for (std::size_t i = 0; i != result.triangles.size(); ++i) {
    EXPECT_EQ(result.vertices[result.triangles[i].x], sphere.vertices[sphere.triangles[i].x]);
    EXPECT_EQ(result.vertices[result.triangles[i].y], sphere.vertices[sphere.triangles[i].y]);
    EXPECT_EQ(result.vertices[result.triangles[i].z], sphere.vertices[sphere.triangles[i].z]);
  }
}

TEST(Weld, LeavesAnEmptyMeshAloneAndAWeldedOne) {
  Mesh mesh = test::unwelded(test::cube());
  Mesh empty;
  weld(empty, 1);
  EXPECT_TRUE(empty.vertices.empty());
  weld(mesh);
  const Welded once{mesh.vertices, mesh.triangles};
  EXPECT_EQ(once.vertices.size(), 8U);
  EXPECT_EQ(welded(mesh), once) << "a second time changes nothing";
}

TEST(Weld, RefusesATolerancethatIsNone) {
  Mesh mesh = test::cube();
  for (const double tolerance :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    expect_error(ErrorKind::usage, [&] { weld(mesh, tolerance); });
}

TEST(Weld, MatchesItsContractOnRandomVertices) {
  for (unsigned seed = 0; seed != test::effort(60U); ++seed) {
    const Mesh grid = random_mesh(seed, 20 + seed * 5, grid_place);
    const Mesh cloud = random_mesh(seed, 20 + seed * 5, cube_place);
    for (const double tolerance : {0.0, 0.03, 0.1, 0.2, 1.0, 1.5, 100.0}) {
      ASSERT_EQ(welded(grid, tolerance), brute_force(grid, tolerance))
          << "seed " << seed << ", tolerance " << tolerance;
      ASSERT_EQ(welded(cloud, tolerance), brute_force(cloud, tolerance))
          << "seed " << seed << ", tolerance " << tolerance;
    }
  }
}

TEST(Weld, MergesAtExactlyTheToleranceAndNotBeyond) {
  // All of 2^-k and 1 - 2^-k as offset: each sits differently in the cells.
  for (int k = 0; k != 20; ++k)
    for (const float offset : {std::ldexp(1.0F, -k), 1 - std::ldexp(1.0F, -k), -std::ldexp(1.0F, -k)}) {
      Mesh mesh;
      mesh.vertices = {{offset, 0, 0}, {offset + 0.75F, 0, 0}};
      const double gap = double{mesh.vertices[1].x} - double{offset};
      EXPECT_EQ(welded(mesh, gap).vertices.size(), 1U);
      EXPECT_EQ(welded(mesh, std::nextafter(gap, 0.0)).vertices.size(), 2U);
    }
}

TEST(Weld, FollowsChainsOfNearVertices) {
  Mesh mesh;
  for (int i = 0; i != 10000; ++i) mesh.vertices.push_back({static_cast<float>((i * 7919) % 10000), 0, 0});
  EXPECT_EQ(welded(mesh, 1).vertices, (std::vector<Float3>{{0, 0, 0}}));
  EXPECT_EQ(welded(mesh, 0.999).vertices.size(), 10000U);
}

TEST(Weld, HasATolerancePreciseBesideHugeCoordinates) {
  const float huge = std::numeric_limits<float>::max();
  Mesh mesh;
  mesh.vertices = {{huge, -huge, 0},       {0, 0, 0},        {1e-9F, 0, 0},
                   {huge, -huge, 0.5e-9F}, {1, 0, 0},        {huge, -std::nextafter(huge, 0.0F), 0},
                   {1 + 1.2e-7F, 0, 0},    {huge, 1e-9F, 0}, {huge, 0, 0}};
  for (const double tolerance : {2e-9, 1e-9 * 1.001})
    EXPECT_EQ(welded(mesh, tolerance), brute_force(mesh, tolerance)) << tolerance;
  EXPECT_EQ(welded(mesh, 2e-9).vertices.size(), 6U);
  for (const double tolerance : {1e-300, 5e-324, 1e-40, 1e300})
    EXPECT_EQ(welded(mesh, tolerance), brute_force(mesh, tolerance)) << tolerance;
}

TEST(Weld, TakesLinearTimeWhereAllVerticesAreNear) {
  // 300,000 vertices in one cell, and as many in two clusters that see each other across cells without a near pair.
  std::mt19937 random(5);
  Mesh mesh = random_mesh(5, 300000, cube_place);
  EXPECT_EQ(welded(mesh, 10).vertices.size(), 1U);
  std::uniform_real_distribution<float> wide(0, 0.4F);
  mesh.triangles.clear();
  for (std::size_t i = 0; i != mesh.vertices.size(); ++i)
    mesh.vertices[i] = {i % 2 == 0 ? wide(random) * 0.1F : 1.1F + wide(random) * 0.1F, wide(random), wide(random)};
  EXPECT_EQ(welded(mesh, 1).vertices.size(), 2U);
}

TEST(Weld, GivesTheSameForAnyNumberOfThreads) {
  Mesh mesh = random_mesh(3, 200000, [](std::mt19937& random) {
    const auto coordinate = [&] { return static_cast<float>(random() % 40) / 8; };
    return Float3{coordinate(), coordinate(), coordinate()};
  });
  Mesh cloud = random_mesh(4, 100000, cube_place);
  std::vector<std::array<Welded, 3>> results;
  for (const std::size_t threads : {1, 2, 8}) {
    const tbb::global_control control(tbb::global_control::max_allowed_parallelism, threads);
    results.push_back({welded(mesh), welded(cloud, 0.015), welded(cloud, 0.03)});
  }
  EXPECT_LE(results[0][0].vertices.size(), 64000U);
  EXPECT_GT(results[0][1].vertices.size(), 1000U);
  EXPECT_LT(results[0][1].vertices.size(), 99000U);
  EXPECT_EQ(results[1], results[0]);
  EXPECT_EQ(results[2], results[0]);
}

}  // namespace
}  // namespace raylift
