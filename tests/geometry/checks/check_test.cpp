// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <raylift/geometry/checks/check.h>
#include <raylift/geometry/scene/eigen.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <map>
#include <numbers>
#include <random>
#include <set>

#include "support/expect_error.h"
#include "support/meshes.h"

namespace raylift {
namespace {

using test::append;
using test::cube;
using test::expect_error;
using test::inside_out;
using test::sphere;
using test::unwelded;
using testing::ElementsAre;
using testing::HasSubstr;

using Counts = std::array<std::uint64_t, MeshCheck::kFlaws>;
constexpr Counts kNoFlaws{};

TEST(Check, FindsACubeWatertight) {
  const MeshCheck check = raylift::check(cube());
  EXPECT_TRUE(check.watertight());
  EXPECT_TRUE(check.closed());
  EXPECT_FALSE(check.inverted());
  EXPECT_EQ(check.counts, kNoFlaws);
  EXPECT_TRUE(check.examples.empty());
  EXPECT_EQ(check.triangles, 12U);
  EXPECT_EQ(check.shells, 1U);
  EXPECT_EQ(check.inward_shells, 0U);
  EXPECT_DOUBLE_EQ(check.volume, 1);
  EXPECT_DOUBLE_EQ(check.area, 6);
  EXPECT_EQ(check.bounds.max, Eigen::Vector3d::Ones());
}

TEST(Check, SeesThroughVerticesThatWereNotWelded) {
  Mesh mesh = unwelded(cube());
  mesh.vertices[0].x = -0.0F;
  const MeshCheck check = raylift::check(mesh);
  EXPECT_TRUE(check.watertight());
  EXPECT_EQ(check.counts, kNoFlaws);
}

TEST(Check, TellsACubeThatIsInsideOut) {
  const MeshCheck check = raylift::check(inside_out(cube()));
  EXPECT_FALSE(check.watertight());
  EXPECT_TRUE(check.closed());
  EXPECT_TRUE(check.inverted());
  EXPECT_EQ(check.inward_shells, 1U);
  EXPECT_DOUBLE_EQ(check.volume, -1);
}

TEST(Check, FindsTheBorderOfAMissingFace) {
  Mesh mesh = cube();
  mesh.triangles.resize(10);
  const MeshCheck check = raylift::check(mesh);
  EXPECT_FALSE(check.watertight());
  EXPECT_EQ(check.count(MeshCheck::Flaw::open_edge), 4U);
  ASSERT_EQ(check.examples.size(), 4U);
  for (const MeshCheck::Example& example : check.examples) {
    EXPECT_EQ(example.flaw, MeshCheck::Flaw::open_edge);
    EXPECT_EQ(example.place[0].x, 1) << "the face x = 1 is missing";
    EXPECT_EQ(example.place[1].x, 1);
    EXPECT_EQ((to_eigen(example.place[0]) - to_eigen(example.place[1])).norm(), 1);
    EXPECT_LT(example.triangle, 10U);
  }
}

TEST(Check, FindsAMissingTriangle) {
  Mesh mesh = cube();
  mesh.triangles.pop_back();
  EXPECT_EQ(check(mesh).count(MeshCheck::Flaw::open_edge), 3U);
}

TEST(Check, FindsATurnedTriangle) {
  Mesh mesh = cube();
  std::swap(mesh.triangles[4].y, mesh.triangles[4].z);
  const MeshCheck check = raylift::check(mesh);
  EXPECT_FALSE(check.watertight());
  EXPECT_EQ(check.count(MeshCheck::Flaw::inconsistent_edge), 3U);
  EXPECT_EQ(check.count(MeshCheck::Flaw::open_edge), 0U);
  EXPECT_EQ(check.examples.front().triangle, 0U) << "the first of the two triangles at the edge";
}

TEST(Check, FindsNoSideOfAMoebiusStrip) {
  constexpr std::uint32_t kSteps = 24;
  Mesh mesh;
  for (std::uint32_t i = 0; i != kSteps; ++i) {
    const double angle = 2 * std::numbers::pi * i / kSteps;
    for (const double side : {-0.3, 0.3}) {
      const double radius = 1 + side * std::cos(angle / 2);
      mesh.vertices.push_back({static_cast<float>(radius * std::cos(angle)),
                               static_cast<float>(radius * std::sin(angle)),
                               static_cast<float>(side * std::sin(angle / 2))});
    }
    // After the last step the strip meets its start upside down.
    const std::uint32_t a = 2 * i;
    const std::uint32_t next = i + 1 == kSteps ? 1 : 2 * i + 2;
    const std::uint32_t beyond = i + 1 == kSteps ? 0 : 2 * i + 3;
    mesh.triangles.push_back({a, next, a + 1});
    mesh.triangles.push_back({next, beyond, a + 1});
  }
  const MeshCheck check = raylift::check(mesh);
  EXPECT_FALSE(check.watertight());
  EXPECT_EQ(check.count(MeshCheck::Flaw::inconsistent_edge), 1U);
  EXPECT_EQ(check.count(MeshCheck::Flaw::open_edge), 2 * kSteps);
  EXPECT_EQ(check.shells, 1U);
}

TEST(Check, FindsAnEdgeSharedByTwoCubes) {
  Mesh mesh = cube();
  append(mesh, cube(), 1, {1, 1, 0});
  const MeshCheck check = raylift::check(mesh);
  EXPECT_FALSE(check.watertight());
  EXPECT_EQ(check.count(MeshCheck::Flaw::nonmanifold_edge), 1U);
  EXPECT_EQ(check.count(MeshCheck::Flaw::open_edge), 0U);
  ASSERT_EQ(check.examples.size(), 1U);
  EXPECT_THAT(check.examples[0].place, ElementsAre(Eigen::Vector3d(1, 1, 0), Eigen::Vector3d(1, 1, 1)));
}

TEST(Check, AllowsPiecesThatTouchInAVertex) {
  Mesh mesh = cube();
  append(mesh, cube(), 1, {1, 1, 1});
  const MeshCheck check = raylift::check(mesh);
  EXPECT_TRUE(check.watertight());
  EXPECT_EQ(check.shells, 2U);
  EXPECT_DOUBLE_EQ(check.volume, 2);
}

TEST(Check, AcceptsAHollowSphere) {
  Mesh mesh = sphere(3);
  append(mesh, inside_out(sphere(3)), 0.5F);
  const MeshCheck check = raylift::check(mesh);
  EXPECT_TRUE(check.watertight());
  EXPECT_EQ(check.counts, kNoFlaws);
  EXPECT_EQ(check.shells, 2U);
  EXPECT_EQ(check.inward_shells, 1U);
  const double solid = raylift::check(sphere(3)).volume;
  EXPECT_NEAR(check.volume, solid * 7 / 8, 1e-6);
  EXPECT_NEAR(solid, 4 * std::numbers::pi / 3, 0.1);
}

TEST(Check, CountsEachCopyOfATriangleOnce) {
  Mesh mesh = cube();
  mesh.triangles.push_back(mesh.triangles[0]);
  mesh.triangles.push_back({mesh.triangles[0].y, mesh.triangles[0].x, mesh.triangles[0].z});
  mesh.triangles.push_back(mesh.triangles[7]);
  const MeshCheck check = raylift::check(mesh);
  EXPECT_EQ(check.count(MeshCheck::Flaw::duplicate_triangle), 3U);
  EXPECT_FALSE(check.watertight());
  std::set<std::uint32_t> located;
  for (const MeshCheck::Example& example : check.examples)
    if (example.flaw == MeshCheck::Flaw::duplicate_triangle) located.insert(example.triangle);
  EXPECT_EQ(located, (std::set<std::uint32_t>{12, 13, 14}));
}

TEST(Check, FindsNoVolumeInASheetWithTwoSides) {
  Mesh mesh;
  mesh.vertices = {{0.1F, 0.7F, 0.3F}, {10.3F, 0, 1}, {0, 7.7F, 2}};
  mesh.triangles = {{0, 1, 2}, {0, 2, 1}};
  const MeshCheck check = raylift::check(mesh);
  EXPECT_EQ(check.count(MeshCheck::Flaw::duplicate_triangle), 1U);
  EXPECT_TRUE(check.closed());
  EXPECT_FALSE(check.watertight());
  EXPECT_FALSE(check.inverted());
}

TEST(Check, IsNotMisledByDegenerateTriangles) {
  Mesh mesh = cube();
  mesh.triangles.push_back({0, 0, 1});
  mesh.triangles.push_back({5, 5, 5});
  const MeshCheck check = raylift::check(mesh);
  EXPECT_TRUE(check.watertight());
  EXPECT_EQ(check.count(MeshCheck::Flaw::degenerate_triangle), 2U);
  EXPECT_EQ(check.shells, 1U);
}

/// A cube whose edge from vertex 0 to 1 has a vertex on its middle that only one of its two triangles has.
Mesh cube_with_t_junction() {
  Mesh mesh = cube();
  mesh.vertices.push_back({0.5F, 0, 0});
  mesh.triangles[0] = {0, 2, 8};
  mesh.triangles.push_back({8, 2, 1});
  return mesh;
}

TEST(Check, FindsAMeshOpenAtATJunction) {
  const MeshCheck check = raylift::check(cube_with_t_junction());
  EXPECT_FALSE(check.watertight());
  EXPECT_EQ(check.count(MeshCheck::Flaw::open_edge), 3U);
}

TEST(Check, LetsASliverCloseATJunction) {
  Mesh mesh = cube_with_t_junction();
  mesh.triangles.push_back({0, 8, 1});
  const MeshCheck check = raylift::check(mesh);
  EXPECT_TRUE(check.watertight());
  EXPECT_EQ(check.count(MeshCheck::Flaw::degenerate_triangle), 1U);
  EXPECT_DOUBLE_EQ(check.volume, 1);
}

TEST(Check, FindsVerticesThatNoTriangleUses) {
  Mesh mesh = cube();
  mesh.vertices.push_back({7, 8, 9});
  mesh.vertices.push_back({0, 0, 0});
  const MeshCheck check = raylift::check(mesh);
  EXPECT_TRUE(check.watertight());
  EXPECT_EQ(check.count(MeshCheck::Flaw::unreferenced_vertex), 2U);
  ASSERT_EQ(check.examples.size(), 2U);
  EXPECT_EQ(check.examples[0].triangle, kNone);
  EXPECT_EQ(check.examples[0].place[0], Eigen::Vector3d(7, 8, 9));
}

TEST(Check, MeasuresASmallVolumeFarFromTheOrigin) {
  Mesh mesh;
  append(mesh, cube(), 0.25F, {1e6F, -2e6F, 1e6F});
  const MeshCheck check = raylift::check(mesh);
  EXPECT_TRUE(check.watertight());
  EXPECT_DOUBLE_EQ(check.volume, 1.0 / 64);
}

TEST(Check, GivesAsManyExamplesAsAskedFor) {
  Mesh mesh = cube();
  mesh.triangles.resize(8);
  EXPECT_EQ(check(mesh, 0).examples.size(), 0U);
  EXPECT_EQ(check(mesh, 1).examples.size(), 1U);
  EXPECT_EQ(check(mesh, 100).examples.size(), check(mesh).count(MeshCheck::Flaw::open_edge));
}

TEST(Check, HasNothingToSayAboutAnEmptyMesh) {
  const MeshCheck check = raylift::check(Mesh{});
  EXPECT_EQ(check.counts, kNoFlaws);
  EXPECT_FALSE(check.closed());
  EXPECT_EQ(check.shells, 0U);
}

TEST(Check, RefusesBrokenNumbersInMeshesMadeByHand) {
  Mesh mesh = cube();
  mesh.triangles[3].y = 8;
  EXPECT_THAT(expect_error(ErrorKind::malformed, [&] { (void)check(mesh); }).what(),
              HasSubstr("mesh 'cube', triangle 3"));
  mesh = cube();
  mesh.vertices[5].z = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(expect_error(ErrorKind::malformed, [&] { (void)check(mesh); }).what(), HasSubstr("vertex 5"));
}

TEST(Check, CountsTheSolidsThatLeak) {
  Scene scene;
  scene.source = "leaky.dae";
  Mesh open = cube();
  open.triangles.pop_back();
  scene.meshes = {cube(), open, inside_out(cube()), open, Mesh{}};
  scene.bindings = {{}};
  for (const std::uint32_t mesh : {0U, 1U, 1U, 0U, 2U, 4U}) {
    Instance instance;
    instance.mesh = mesh;
    scene.instances.push_back(instance);
  }
  const SceneCheck check = raylift::check(scene);
  EXPECT_FALSE(check.watertight());
  EXPECT_EQ(check.leaking_meshes, 2U) << "the second open mesh is not in use, and an empty one can't leak";
  EXPECT_EQ(check.leaking_instances, 3U);
  EXPECT_EQ(check.counts[static_cast<std::size_t>(MeshCheck::Flaw::open_edge)], 6U);
  ASSERT_EQ(check.meshes.size(), 5U);
  EXPECT_EQ(check.meshes[1].instances, 2U);
  EXPECT_EQ(check.meshes[1].first_instance, 1U);
  EXPECT_EQ(check.meshes[3].first_instance, kNone);

  scene.instances.resize(1);
  EXPECT_TRUE(raylift::check(scene).watertight());
  scene.meshes[3].triangles[0].x = 99;
  EXPECT_EQ(expect_error(ErrorKind::malformed, [&] { (void)raylift::check(scene); }).file(), "leaky.dae");
}

TEST(Check, StopsWhenItsCallerCancels) {
  Scene scene;
  scene.meshes = {cube()};
  const Progress never([](auto, auto, auto) { return false; });
  expect_error(ErrorKind::cancelled, [&] { (void)check(scene, never); });
}

/// Triangles over few vertices at few places, so that all flaws are frequent.
Mesh random_mesh(unsigned seed) {
  std::mt19937 random(seed);
  const auto pick = [&](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
  Mesh mesh;
  const std::uint32_t vertices = 3 + pick(60);
  for (std::uint32_t i = 0; i != vertices; ++i)
    mesh.vertices.push_back(
        {static_cast<float>(pick(3)), static_cast<float>(pick(4)), pick(9) == 0 ? -0.0F : static_cast<float>(pick(3))});
  mesh.triangles.resize(pick(150));
  for (UInt3& t : mesh.triangles) t = {pick(vertices), pick(vertices), pick(vertices)};
  return mesh;
}

/// The definitions of check.h, one by one.
Counts brute_force(const Mesh& mesh) {
  using Point = std::array<float, 3>;
  const auto point = [&](std::uint32_t i) {
    return Point{mesh.vertices[i].x + 0.0F, mesh.vertices[i].y + 0.0F, mesh.vertices[i].z + 0.0F};
  };
  const auto eigen = [](const Point& p) { return Eigen::Vector3d(p[0], p[1], p[2]); };
  std::map<std::set<Point>, std::vector<bool>> edges;
  std::set<std::set<Point>> seen;
  Counts counts{};
  const auto add = [&](MeshCheck::Flaw flaw) { ++counts[static_cast<std::size_t>(flaw)]; };
  std::set<std::uint32_t> used;
  for (const UInt3& t : mesh.triangles) {
    const Point p[3] = {point(t.x), point(t.y), point(t.z)};
    used.insert({t.x, t.y, t.z});
    const bool equal = std::set<Point>(p, p + 3).size() != 3;
    if (equal || (eigen(p[1]) - eigen(p[0])).cross(eigen(p[2]) - eigen(p[0])).norm() == 0)
      add(MeshCheck::Flaw::degenerate_triangle);
    if (equal) continue;
    if (!seen.insert(std::set<Point>(p, p + 3)).second) add(MeshCheck::Flaw::duplicate_triangle);
    for (int k = 0; k != 3; ++k) edges[{p[k], p[(k + 1) % 3]}].push_back(p[k] < p[(k + 1) % 3]);
  }
  for (const auto& [edge, directions] : edges) {
    if (directions.size() == 1) add(MeshCheck::Flaw::open_edge);
    if (directions.size() > 2) add(MeshCheck::Flaw::nonmanifold_edge);
    if (directions.size() == 2 && directions[0] == directions[1]) add(MeshCheck::Flaw::inconsistent_edge);
  }
  for (std::uint32_t i = 0; i != mesh.vertices.size(); ++i)
    if (!used.contains(i)) add(MeshCheck::Flaw::unreferenced_vertex);
  return counts;
}

TEST(Check, MatchesItsDefinitionsOnRandomTriangles) {
  for (unsigned seed = 0; seed != 300; ++seed) {
    const Mesh mesh = random_mesh(seed);
    ASSERT_EQ(check(mesh).counts, brute_force(mesh)) << "seed " << seed;
  }
}

TEST(Check, GivesTheSameForAnyNumberOfThreads) {
  // Large enough for many tasks, and with flaws all over it.
  Mesh mesh = unwelded(sphere(6));
  std::mt19937 random(1);
  for (int i = 0; i != 500; ++i) {
    UInt3& t = mesh.triangles[random() % mesh.triangles.size()];
    if (i % 2 == 0) std::swap(t.x, t.y);
    if (i % 2 == 1) t = mesh.triangles[random() % mesh.triangles.size()];
  }
  std::vector<MeshCheck> checks;
  for (const std::size_t threads : {1, 2, 8}) {
    const tbb::global_control control(tbb::global_control::max_allowed_parallelism, threads);
    checks.push_back(check(mesh));
  }
  for (const MeshCheck& other : checks) {
    EXPECT_EQ(other.counts, checks[0].counts);
    EXPECT_EQ(other.volume, checks[0].volume);
    EXPECT_EQ(other.area, checks[0].area);
    EXPECT_EQ(other.shells, checks[0].shells);
    ASSERT_EQ(other.examples.size(), checks[0].examples.size());
    for (std::size_t i = 0; i != other.examples.size(); ++i) {
      EXPECT_EQ(other.examples[i].triangle, checks[0].examples[i].triangle);
      EXPECT_EQ(other.examples[i].place, checks[0].examples[i].place);
    }
  }
}

}  // namespace
}  // namespace raylift
