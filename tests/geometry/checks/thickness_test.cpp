// SPDX-License-Identifier: Apache-2.0
// Solids are as thick as closed forms have it, at any place, scale and turn; and those that are too thin are listed.
#include <gmock/gmock.h>
#include <raylift/geometry/checks/thickness.h>
#include <raylift/geometry/scene/eigen.h>
#include <tbb/global_control.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "checks/mesh_thickness.h"
#include "overlap_scenes.h"
#include "support/expect_error.h"

namespace raylift {
namespace {

using Eigen::Vector3d;
using test::at;
using test::ball;
using test::box;
using test::SolidScene;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// The only entry.
ThicknessReport::Solids the_thickness(const Scene& scene) {
  const ThicknessReport report = measure_thickness(scene);
  EXPECT_THAT(report.found, SizeIs(1));
  return report.found.empty() ? ThicknessReport::Solids{} : report.found.front();
}
ThicknessReport::Solids the_thickness(const Mesh& mesh, const EigenTransform& transform = EigenTransform::Identity()) {
  SolidScene scene;
  scene.add(mesh, transform);
  return the_thickness(scene.scene());
}

/// A mesh whose vertices are doubles.
struct DoubleMesh {
  std::vector<Vector3d> vertices;
  std::vector<UInt3> triangles;

  explicit DoubleMesh(const Mesh& mesh) : triangles(mesh.triangles) {
    for (const Float3& v : mesh.vertices) vertices.emplace_back(v.x, v.y, v.z);
  }
  DoubleMesh& append(const DoubleMesh& other) {
    const auto base = static_cast<std::uint32_t>(vertices.size());
    vertices.insert(vertices.end(), other.vertices.begin(), other.vertices.end());
    for (const UInt3& t : other.triangles) triangles.push_back({base + t.x, base + t.y, base + t.z});
    return *this;
  }
  /// In steps of no float.
  DoubleMesh& stretch(const Vector3d& by, const Vector3d& shift = Vector3d::Zero()) {
    for (Vector3d& v : vertices) v = v.cwiseProduct(by) + shift;
    return *this;
  }
  DoubleMesh& normalize(double radius) {
    for (Vector3d& v : vertices) v = radius * v.normalized();
    return *this;
  }
  [[nodiscard]] thickness::MeshThickness measure(const Eigen::Matrix3d& linear = Eigen::Matrix3d::Identity()) const {
    return thickness::measure({vertices, triangles, linear}, thickness::useful_rays(triangles.size()));
  }
};

/// Around z, of side faces between rings of (radius, z); a radius of 0 is a tip. Normals point outward if z ascends.
Mesh turned(const std::vector<std::pair<double, double>>& rings, std::uint32_t sides) {
  Mesh mesh;
  mesh.name = "turned";
  std::vector<std::uint32_t> first;
  for (const auto& [radius, z] : rings) {
    first.push_back(static_cast<std::uint32_t>(mesh.vertices.size()));
    for (std::uint32_t i = 0; i != (radius == 0 ? 1 : sides); ++i) {
      const double angle = 2 * std::numbers::pi * i / sides;
      mesh.vertices.push_back(test::to_float(Vector3d(radius * std::cos(angle), radius * std::sin(angle), z)));
    }
  }
  for (std::size_t ring = 0; ring + 1 != rings.size(); ++ring)
    for (std::uint32_t i = 0; i != sides; ++i) {
      const auto corner = [&](std::size_t of, std::uint32_t k) {
        return first[of] + (rings[of].first == 0 ? 0 : k % sides);
      };
      if (rings[ring].first != 0) mesh.triangles.push_back({corner(ring, i), corner(ring, i + 1), corner(ring + 1, i)});
      if (rings[ring + 1].first != 0)
        mesh.triangles.push_back({corner(ring, i + 1), corner(ring + 1, i + 1), corner(ring + 1, i)});
    }
  mesh.parts = {{0, static_cast<std::uint32_t>(mesh.triangles.size())}};
  return mesh;
}

Mesh torus(double radius, double tube, std::uint32_t sides) {
  Mesh mesh;
  mesh.name = "torus";
  for (std::uint32_t i = 0; i != sides; ++i)
    for (std::uint32_t k = 0; k != sides; ++k) {
      const double u = 2 * std::numbers::pi * i / sides, v = 2 * std::numbers::pi * k / sides;
      const double across = radius + tube * std::cos(v);
      mesh.vertices.push_back(test::to_float(Vector3d(across * std::cos(u), across * std::sin(u), tube * std::sin(v))));
      const std::uint32_t i2 = (i + 1) % sides, k2 = (k + 1) % sides;
      mesh.triangles.push_back({i * sides + k, i2 * sides + k, i2 * sides + k2});
      mesh.triangles.push_back({i * sides + k, i2 * sides + k2, i * sides + k2});
    }
  mesh.parts = {{0, static_cast<std::uint32_t>(mesh.triangles.size())}};
  return mesh;
}

TEST(Thickness, IsNoneWhereThereIsNothing) {
  const ThicknessReport none = measure_thickness(Scene{});
  EXPECT_THAT(none.found, IsEmpty());
  EXPECT_EQ(none.rays, 0U);
  SolidScene empty;
  empty.add(Mesh{});
  EXPECT_EQ(measure_thickness(empty.scene()).unmeasured_solids, 0U) << "a solid without triangles";
}

TEST(Thickness, OfABoxIsItsSmallestSide) {
  const ThicknessReport::Solids found = the_thickness(box({5, 3, 2}));
  EXPECT_NEAR(found.thickness, 4, 1e-12);
  EXPECT_THAT(found.solids, ElementsAre(0));
  EXPECT_NEAR(std::abs(found.place.z), 2, 1e-12);
  EXPECT_EQ(found.rays, 8 * 12 + 256U);
  EXPECT_TRUE(found.resolved());
  // The corners are floats: 2^-23 of 2 mm across the faces.
  EXPECT_DOUBLE_EQ(found.resolution, 2 * 0x1p-23);
  // From the face at 0 to the one at 1 mm, whose step is the larger one.
  EXPECT_DOUBLE_EQ(the_thickness(box({0, 0, 0}, {1, 9, 9})).resolution, 0x1p-23);
}

TEST(Thickness, OfTwoRidgesIsThatWhereTheyCross) {
  // z from -(1 + |x|) / 2 to (1 + |y|) / 2, scaled: the narrowest place lies far from all corners. It is found by
  // points spread by area, which the small box before it hardly gets.
  Mesh mesh;
  mesh.vertices = {{-1, -1, -1}, {0, -1, -0.5F}, {1, -1, -1},  {1, 1, -1}, {0, 1, -0.5F}, {-1, 1, -1},
                   {-1, -1, 1},  {1, -1, 1},     {1, 0, 0.5F}, {1, 1, 1},  {-1, 1, 1},    {-1, 0, 0.5F}};
  for (Float3& v : mesh.vertices) v = {50 * v.x, 50 * v.y, v.z};
  mesh.triangles = {{0, 4, 1}, {0, 5, 4}, {1, 3, 2}, {1, 4, 3}, {6, 7, 8}, {6, 8, 11}, {11, 8, 9}, {11, 9, 10}};
  Mesh both = box({200, 0, 0}, {205, 5, 5});
  test::append(both, mesh);
  const double thickness = the_thickness(both).thickness;
  EXPECT_GE(thickness, 0.999);
  EXPECT_LT(thickness, 1.1);
}

TEST(Thickness, OfABallIsTheDistanceOfItsNearestFacets) {
  for (const int levels : {0, 2, 4}) {
    const Mesh mesh = ball(100, levels);
    double inner = 100;  // of each facet there is one opposite
    for (const UInt3& t : mesh.triangles) {
      const Vector3d a = test::to_double(mesh.vertices[t.x]);
      const Vector3d normal =
          (test::to_double(mesh.vertices[t.y]) - a).cross(test::to_double(mesh.vertices[t.z]) - a).normalized();
      inner = std::min(inner, normal.dot(a));
    }
    const double thickness = the_thickness(mesh).thickness;
    EXPECT_LE(thickness, 2 * inner + 1e-4) << levels;
    // From a facet's corner a ray meets a neighbour of the opposite facet, no nearer than the ball in the middle.
    EXPECT_GE(thickness, inner + std::sqrt(std::max(2 * inner * inner - 100 * 100, 0.0)) - 1e-4) << levels;
  }
}

TEST(Thickness, OfATorusIsThatOfItsTube) {
  const double thickness = the_thickness(torus(50, 10, 64)).thickness;
  EXPECT_LE(thickness, 20);
  EXPECT_GE(thickness, 20 * std::cos(std::numbers::pi / 64) * 0.99);
}

TEST(Thickness, OfACylinderIsItsDiameterOrItsHeight) {
  const std::uint32_t sides = 64;
  const auto cylinder = [&](double radius, double height) {
    return the_thickness(turned({{0, 0}, {radius, 0}, {radius, height}, {0, height}}, sides)).thickness;
  };
  EXPECT_NEAR(cylinder(10, 500), 20 * std::cos(std::numbers::pi / sides), 1e-5);
  EXPECT_NEAR(cylinder(10, 2), 2, 1e-6);
}

TEST(Thickness, OfAConeIsNotThatOfItsTip) {
  for (const double height : {100.0, 1000.0}) {
    const double thickness = the_thickness(turned({{0, 0}, {10, 0}, {0, height}}, 48)).thickness;
    EXPECT_GT(thickness, 1) << height;
    EXPECT_LT(thickness, 20) << height;
  }
  const Mesh cone = turned({{0, 0}, {10, 0}, {0, 100}}, 48);
  EXPECT_EQ(the_thickness(test::unwelded(cone)).thickness, the_thickness(cone).thickness);
  SolidScene blunt;
  blunt.add(turned({{0, 0}, {10, 0}, {0, 10}}, 48));
  EXPECT_EQ(measure_thickness(blunt.scene()).unmeasured_solids, 1U) << "no two of its faces face each other";
}

TEST(Thickness, OfALensIsNotThatOfItsRim) {
  // 1 mm at the rings of half its radius. Between them and the rim, triangles meet whose corners are on both.
  const double thickness = the_thickness(turned({{0, -1}, {10, -0.5}, {20, 0}, {10, 0.5}, {0, 1}}, 48)).thickness;
  EXPECT_GT(thickness, 0.5);
  EXPECT_LT(thickness, 1.01);
}

TEST(Thickness, OfSolidsWhoseFacesAllMeetIsTheLargestDistance) {
  Mesh flat;
  flat.name = "flat";
  flat.vertices = {{0, 0, 0}, {1000, 1000, 0}, {1000, 0, 0.125F}, {0, 1000, 0.125F}};
  flat.triangles = {{0, 3, 1}, {0, 1, 2}, {0, 2, 3}, {1, 3, 2}};
  const double thickness = the_thickness(flat).thickness;
  EXPECT_GT(thickness, 0.05);
  EXPECT_LE(thickness, 0.1251);
}

TEST(Thickness, OfAShellIsThatOfItsWall) {
  // Radius 20 m, 2 um: floats there are 2 um apart.
  const Mesh unit = test::sphere(4);
  const double radius = 20'000, wall = 0.002;
  DoubleMesh shell(unit);
  shell.normalize(radius);
  DoubleMesh cavity(test::inside_out(unit));
  shell.append(cavity.normalize(radius - wall));
  const thickness::MeshThickness found = shell.measure();
  ASSERT_TRUE(found.thinnest.found());
  // Facets are nearer to the middle than the sphere, in proportion, by up to a square of half their edge.
  const double edge = std::numbers::pi / 2 / 16;
  EXPECT_LE(found.thinnest.thickness, wall + 1e-9);
  EXPECT_GE(found.thinnest.thickness, wall * (1 - edge * edge / 2));
  EXPECT_FALSE(found.coarsest.found()) << "no floats";
}

TEST(Thickness, OfFilmsIsRightFarBelowANanometre) {
  for (const double wall : {2e-3, 2e-5, 1e-8}) {
    DoubleMesh film(box({1, 1, 1}));
    film.stretch({5000, 5000, wall / 2});
    EXPECT_NEAR(film.measure().thinnest.thickness, wall, 1e-15) << "around its own origin";
    film.stretch({1, 1, 1}, {1234.5, 777.7, 6543.21});
    EXPECT_NEAR(film.measure().thinnest.thickness, wall, 4e-12) << "as far out as a float's step is 0.5 um";
    const Eigen::Matrix3d turn = Eigen::AngleAxisd(1.1, Vector3d(1, 2, 3).normalized()).toRotationMatrix();
    for (Vector3d& v : film.vertices) v = turn * v;
    EXPECT_NEAR(film.measure().thinnest.thickness, wall, 2e-11);
  }
}

TEST(Thickness, OfAFilmOfFloatsAroundItsOwnOriginIsResolved) {
  SolidScene scene;
  scene.add(box({10'000, 10'000, 10'000}));
  scene.add(box({0.001, 500, 500}), at({9000, 0, 0}), 0);
  scene.add(box({500, 500, 1e-5}), at({0, 0, 9000}), 0);
  scene.add(box({500, 1e-7, 500}), at({0, 0, 9000}), 0);
  const ThicknessReport report = measure_thickness(scene.scene());
  ASSERT_THAT(report.found, SizeIs(4));
  EXPECT_NEAR(report.found[0].thickness, 2e-7, 1e-13);
  EXPECT_FALSE(report.found[0].resolved());
  EXPECT_NEAR(report.found[1].thickness, 2e-5, 1e-11);
  EXPECT_TRUE(report.found[1].resolved());
  EXPECT_DOUBLE_EQ(report.found[1].resolution, kPositionStep * 10'000);
  EXPECT_NEAR(report.found[2].thickness, 0.002, 1e-9);
  EXPECT_DOUBLE_EQ(report.found[3].thickness, 20'000);
  EXPECT_EQ(report.unresolved_solids, 1U);
  EXPECT_EQ(report.measured_solids, 4U);
}

TEST(Thickness, OfFloatsFarOutIsNotResolved) {
  // A wall of a hall in one mesh: 60 m from the origin, floats are 4 um apart.
  SolidScene scene;
  scene.add(box({60'000, 0, 0}, {60'000.5, 1000, 1000}));
  scene.add(box({60'000, 0, 0}, {60'001, 1000, 1000}), at({-60'000, 0, 0}));
  const ThicknessReport report = measure_thickness(scene.scene());
  ASSERT_THAT(report.found, SizeIs(2));
  EXPECT_NEAR(report.found[0].thickness, 0.5, 1e-6);
  EXPECT_NEAR(report.found[0].resolution, 60'000.5 * 0x1p-23, 1e-9);
  EXPECT_FALSE(report.found[0].resolved());
  EXPECT_TRUE(report.found[1].resolved()) << "1 mm there, however it is placed";
  EXPECT_EQ(report.unresolved_solids, 1U);
}

TEST(Thickness, IsThatOfAResolvedSpotOnlyWhereAllAreResolved) {
  // A plate of 1 mm by the origin, and one of 3 mm where floats are 32 um apart: the second is the worse one.
  Mesh mesh = box({0, 0, 0}, {1, 100, 100});
  test::append(mesh, box({400'000, 0, 0}, {400'003, 100, 100}));
  const ThicknessReport::Solids found = the_thickness(mesh);
  EXPECT_NEAR(found.thickness, 3, 1e-12);
  EXPECT_FALSE(found.resolved());
}

TEST(Thickness, FollowsTheTransform) {
  EigenTransform transform = EigenTransform::Identity();
  transform.translation() = Vector3d(3000, -200, 10);
  transform.rotate(Eigen::AngleAxisd(0.7, Vector3d(1, -1, 2).normalized()));
  const Mesh film = box({500, 500, 0.001});
  EXPECT_NEAR(the_thickness(film, transform).thickness, 0.002, 1e-9);
  transform.scale(10);
  EXPECT_NEAR(the_thickness(film, transform).thickness, 0.02, 1e-8);
  transform.scale(Vector3d(1, -1, 1));
  EXPECT_NEAR(the_thickness(film, transform).thickness, 0.02, 1e-8) << "a mirror";
  transform.scale(Vector3d(1, 1, 3));
  EXPECT_NEAR(the_thickness(film, transform).thickness, 0.06, 1e-8);
  transform.scale(Vector3d(1, 1e-6, 1));
  EXPECT_NEAR(the_thickness(film, transform).thickness, 0.01, 1e-8) << "1 m by 10 by 1e-6";

  // A cube that is made a film by its transform: 20 nm of 10 m.
  EigenTransform thin = EigenTransform::Identity();
  thin.rotate(Eigen::AngleAxisd(0.7, Vector3d(1, -1, 2).normalized()));
  thin.scale(Vector3d(1e4, 1e4, 2e-5));
  const ThicknessReport::Solids found = the_thickness(test::cube(), thin);
  EXPECT_NEAR(found.thickness, 2e-5, 1e-12);
  const Vector3d local = thin.inverse() * to_eigen(found.place);
  EXPECT_TRUE(std::abs(local.z()) < 1e-6 || std::abs(local.z() - 1) < 1e-6) << local.transpose();
}

TEST(Thickness, OfAShearedBoxIsPerpendicularToItsFaces) {
  EigenTransform shear = EigenTransform::Identity();
  shear.linear()(0, 2) = 1;  // x moves by z: faces across x are inclined by 45 degrees
  EXPECT_NEAR(the_thickness(box({1, 50, 50}), shear).thickness, 2 * std::sqrt(0.5), 1e-9);
  EXPECT_NEAR(the_thickness(box({50, 50, 1}), shear).thickness, 2, 1e-9);
}

TEST(Thickness, IsStatedOnceForSolidsThatAreAlike) {
  SolidScene scene;
  const std::uint32_t mesh = scene.add_mesh(box({5, 5, 1}));
  EigenTransform turned = at({100, 0, 0});
  turned.rotate(Eigen::AngleAxisd(0.3, Vector3d::UnitX()));
  scene.place(mesh, at({0, 0, 0}));
  scene.place(mesh, turned);
  EigenTransform twice = at({200, 0, 0});
  twice.scale(2);
  scene.place(mesh, twice);
  const ThicknessReport report = measure_thickness(scene.scene());
  ASSERT_THAT(report.found, SizeIs(2));
  EXPECT_THAT(report.found[0].solids, ElementsAre(0, 1));
  EXPECT_THAT(report.found[1].solids, ElementsAre(2));
  EXPECT_NEAR(report.found[1].thickness, 4, 1e-9);
  EXPECT_EQ(report.rays, report.found[0].rays) << "one shape";
}

TEST(Thickness, IsThatOfEachShapeOfAMesh) {
  SolidScene scene;
  const std::uint32_t mesh = scene.add_mesh(box({1, 1, 1}));
  for (const double by : {1.0, 0.5, 0.499, 2.0}) {
    EigenTransform stretched = at({10 * by, 0, 0});
    stretched.scale(Vector3d(1, 1, by));
    scene.place(mesh, stretched);
  }
  EigenTransform sheared = at({50, 0, 0});
  sheared.linear()(0, 2) = 1;
  scene.place(mesh, sheared);
  const ThicknessReport report = measure_thickness(scene.scene());
  ASSERT_THAT(report.found, SizeIs(5));
  EXPECT_NEAR(report.found[0].thickness, 0.998, 1e-9);
  EXPECT_NEAR(report.found[1].thickness, 1, 1e-9);
  EXPECT_NEAR(report.found[2].thickness, 2 * std::sqrt(0.5), 1e-9);
  EXPECT_NEAR(report.found[3].thickness, 2, 1e-9);
  EXPECT_NEAR(report.found[4].thickness, 2, 1e-9);
  EXPECT_EQ(report.rays, 5 * report.found[0].rays);
}

TEST(Thickness, OfACoatedWindowIsThatOfEachLayer) {
  SolidScene scene;
  const std::uint32_t world = scene.add(box({1000, 1000, 1000}));
  scene.add(box({100, 100, 5}), at({0, 0, 0}), world);
  scene.add(box({100, 100, 0.0015F}), at({0, 0, 5.0015}), world);
  const ThicknessReport report = measure_thickness(scene.scene());
  ASSERT_THAT(report.found, SizeIs(3));
  EXPECT_NEAR(report.found[0].thickness, 0.003, 1e-9);
  EXPECT_NEAR(report.found[1].thickness, 10, 1e-9);
  EXPECT_NEAR(report.found[2].thickness, 2000, 1e-9);
}

TEST(Thickness, OfMeshesWithoutAnInsideIsNone) {
  Mesh open = box({5, 5, 5});
  open.triangles.resize(2);
  for (const Mesh& mesh : {open, test::inside_out(box({5, 5, 5}))}) {
    SolidScene scene;
    scene.add(mesh);
    const ThicknessReport report = measure_thickness(scene.scene());
    EXPECT_THAT(report.found, IsEmpty());
    EXPECT_EQ(report.unmeasured_solids, 1U);
  }
}

TEST(Thickness, OfAnOpenBoxIsThatOfTheFacesItHas) {
  Mesh open = box({5, 5, 1});
  open.triangles.erase(open.triangles.begin() + 4, open.triangles.end());  // top and bottom are left
  EXPECT_NEAR(the_thickness(open).thickness, 2, 1e-12);
}

TEST(Thickness, LooksAtNoTriangleWithoutArea) {
  Mesh mesh = box({5, 5, 1});
  mesh.triangles.push_back({0, 0, 0});
  mesh.triangles.push_back({0, 7, 0});
  mesh.vertices.push_back({0, 0, -1});
  mesh.vertices.push_back({1, 1, -1});
  mesh.vertices.push_back({2, 2, -1});
  mesh.triangles.push_back({8, 9, 10});
  const ThicknessReport::Solids found = the_thickness(mesh);
  EXPECT_NEAR(found.thickness, 2, 1e-12);

  Mesh nothing = mesh;
  nothing.triangles.assign(5, UInt3{8, 9, 10});
  SolidScene scene;
  scene.add(nothing);
  EXPECT_EQ(measure_thickness(scene.scene()).unmeasured_solids, 1U);
}

TEST(Thickness, IsAlwaysANumber) {
  EigenTransform broken = EigenTransform::Identity();
  broken.linear()(1, 1) = std::numeric_limits<double>::quiet_NaN();
  EigenTransform point = EigenTransform::Identity();
  point.linear().setZero();
  EigenTransform flat = EigenTransform::Identity();
  flat.scale(Vector3d(1, 0, 1));
  EigenTransform huge = EigenTransform::Identity();
  huge.scale(1e200);
  Mesh vast = box({1, 1, 1});
  for (Float3& v : vast.vertices) v = {v.x * 3e38F, v.y * 3e38F, v.z * 3e38F};
  for (const EigenTransform& transform : {broken, point, flat, huge})
    for (const Mesh& mesh : {box({1, 1, 1}), vast}) {
      SolidScene scene;
      scene.add(mesh, transform);
      const ThicknessReport report = measure_thickness(scene.scene());
      EXPECT_EQ(report.measured_solids + report.unmeasured_solids, 1U);
      for (const ThicknessReport::Solids& found : report.found) {
        EXPECT_FALSE(std::isnan(found.thickness));
        EXPECT_FALSE(std::isnan(found.resolution));
      }
    }
  EXPECT_DOUBLE_EQ(the_thickness(box({1, 1, 1}), flat).thickness, 0);
  EXPECT_FALSE(the_thickness(box({1, 1, 1}), flat).resolved());
}

TEST(Thickness, OfASheetWithTwoSidesIsNothing) {
  Mesh sheet = box({5, 5, 5});
  sheet.triangles.resize(2);
  test::append(sheet, test::inside_out(sheet));
  const ThicknessReport::Solids found = the_thickness(sheet);
  EXPECT_NEAR(found.thickness, 0, 1e-14);
  EXPECT_FALSE(found.resolved());
}

TEST(Thickness, KeepsToItsRays) {
  SolidScene scene;
  scene.add(ball(10, 5));
  scene.add(box({1, 1, 1}));
  ThicknessReport::Options few;
  few.rays = 1000;
  const ThicknessReport report = measure_thickness(scene.scene(), few);
  EXPECT_LE(report.rays, 1000 + 2 * 16U);
  ASSERT_THAT(report.found, SizeIs(2));
  EXPECT_EQ(report.found[0].rays, 16U);
  EXPECT_NEAR(report.found[0].thickness, 2, 1e-12);
  EXPECT_NEAR(report.found[1].thickness, 20, 0.1);
}

TEST(Thickness, IsTheSameForAnyNumberOfThreads) {
  SolidScene scene;
  const std::uint32_t torus_mesh = scene.add_mesh(torus(50, 10, 24));
  scene.place(torus_mesh, at({0, 0, 0}));
  EigenTransform stretched = at({100, 0, 0});
  stretched.scale(Vector3d(1, 2, 3));
  scene.place(torus_mesh, stretched);
  scene.add(ball(7, 3));
  const auto measure = [&](std::size_t threads) {
    const tbb::global_control control(tbb::global_control::max_allowed_parallelism, threads);
    return measure_thickness(scene.scene());
  };
  const ThicknessReport one = measure(1), many = measure(8);
  ASSERT_THAT(one.found, SizeIs(3));
  for (std::size_t i = 0; i != 3; ++i) {
    EXPECT_EQ(one.found[i].solids, many.found[i].solids);
    EXPECT_EQ(one.found[i].thickness, many.found[i].thickness);
    EXPECT_EQ(one.found[i].resolution, many.found[i].resolution);
    EXPECT_EQ(one.found[i].place, many.found[i].place);
  }
}

TEST(Thickness, RefusesWhatIsNoScene) {
  SolidScene solids;
  solids.add(box({1, 1, 1}));
  Scene scene = solids.scene();
  scene.instances[0].mesh = 1;
  EXPECT_THAT(test::expect_error(ErrorKind::usage, [&] { (void)measure_thickness(scene); }).what(),
              HasSubstr("a mesh that the scene does not have"));
  scene = solids.scene();
  scene.meshes[0].triangles[3].y = 8;
  EXPECT_THAT(test::expect_error(ErrorKind::malformed, [&] { (void)measure_thickness(scene); }).what(),
              HasSubstr("a vertex index is out of range"));
  scene = solids.scene();
  scene.meshes[0].vertices[3].y = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(test::expect_error(ErrorKind::malformed, [&] { (void)measure_thickness(scene); }).what(),
              HasSubstr("a coordinate is NaN or infinite"));
}

}  // namespace
}  // namespace raylift
