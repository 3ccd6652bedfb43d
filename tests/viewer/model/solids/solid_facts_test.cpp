// SPDX-License-Identifier: Apache-2.0
// Box, area and volume of solids, against boxes known by their edges and against sums over all facets made here: areas
// by Heron's formula, volumes by the flux of (x, 0, 0), both in long double over corners moved to the world.
#include "model/solids/solid_facts.h"

#include <gtest/gtest.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <span>
#include <thread>
#include <vector>

namespace raylift::viewer {
namespace {

using Long = long double;
using LongPoint = std::array<Long, 3>;

/// A box from 0 to `size`, normals outward.
Mesh box_mesh(const std::array<float, 3>& size, bool inside_out = false) {
  Mesh mesh;
  mesh.name = "box";
  for (unsigned i = 0; i != 8; ++i)
    mesh.vertices.push_back({(i & 1) != 0 ? size[0] : 0, (i & 2) != 0 ? size[1] : 0, (i & 4) != 0 ? size[2] : 0});
  mesh.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                    {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  if (inside_out)
    for (UInt3& t : mesh.triangles) std::swap(t.y, t.z);
  mesh.parts = {{0, 12}};
  return mesh;
}

/// An icosahedron's sphere of radius 1, normals outward.
Mesh icosphere(int levels) {
  Mesh mesh;
  mesh.name = "icosphere";
  const auto add = [&](float x, float y, float z) {
    const float length = std::sqrt(x * x + y * y + z * z);
    mesh.vertices.push_back({x / length, y / length, z / length});
    return static_cast<std::uint32_t>(mesh.vertices.size() - 1);
  };
  const auto golden = std::numbers::phi_v<float>;
  for (const float a : {-1.0F, 1.0F})
    for (const float b : {-golden, golden}) {
      add(0, a, b);
      add(a, b, 0);
      add(b, 0, a);
    }
  // Faces: triples of corners that are nearest neighbours of each other.
  const auto near = [&](std::uint32_t a, std::uint32_t b) {
    const Float3 p = mesh.vertices[a], q = mesh.vertices[b];
    return std::hypot(p.x - q.x, p.y - q.y, p.z - q.z) < 1.1F;
  };
  for (std::uint32_t a = 0; a != 12; ++a)
    for (std::uint32_t b = a + 1; b != 12; ++b)
      for (std::uint32_t c = b + 1; c != 12; ++c) {
        if (!near(a, b) || !near(b, c) || !near(a, c)) continue;
        const Float3 p = mesh.vertices[a], q = mesh.vertices[b], r = mesh.vertices[c];
        const float side =
            p.x * (q.y * r.z - q.z * r.y) + p.y * (q.z * r.x - q.x * r.z) + p.z * (q.x * r.y - q.y * r.x);
        mesh.triangles.push_back(side > 0 ? UInt3{a, b, c} : UInt3{a, c, b});
      }
  for (; levels > 0; --levels) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> middles;
    const auto middle = [&](std::uint32_t a, std::uint32_t b) {
      const auto key = std::minmax(a, b);
      if (const auto known = middles.find(key); known != middles.end()) return known->second;
      const Float3 p = mesh.vertices[a], q = mesh.vertices[b];
      return middles[key] = add(p.x + q.x, p.y + q.y, p.z + q.z);
    };
    std::vector<UInt3> finer;
    for (const UInt3& t : mesh.triangles) {
      const std::uint32_t a = middle(t.x, t.y), b = middle(t.y, t.z), c = middle(t.z, t.x);
      for (const UInt3& part : {UInt3{t.x, a, c}, UInt3{a, t.y, b}, UInt3{c, b, t.z}, UInt3{a, b, c}})
        finer.push_back(part);
    }
    mesh.triangles = std::move(finer);
  }
  mesh.parts = {{0, static_cast<std::uint32_t>(mesh.triangles.size())}};
  return mesh;
}

/// A tetrahedron: its box has another centre than it has itself.
Mesh tetrahedron() {
  Mesh mesh;
  mesh.name = "tetrahedron";
  mesh.vertices = {{1000, 0, 0}, {1008, 0, 0}, {1000, 4, 0}, {1000, 0, 12}};
  mesh.triangles = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  mesh.parts = {{0, 4}};
  return mesh;
}

/// A scene whose solids are placed meshes, each in a node of its own; `mothers`: nodes, as their indices.
struct Placed {
  std::uint32_t mesh;
  Transform transform;
  std::uint32_t mother = kNone;
};
std::shared_ptr<const Scene> scene_of_placed(std::vector<Mesh> meshes, const std::vector<Placed>& placed) {
  Scene scene;
  scene.source = "/placed.dae";
  scene.meshes = std::move(meshes);
  scene.bindings = {{kNone}};
  for (const Placed& one : placed) {
    scene.nodes.push_back({"solid" + std::to_string(scene.nodes.size()), one.mother, {}, kNone});
    Instance instance;
    instance.mesh = one.mesh;
    instance.node = static_cast<std::uint32_t>(scene.nodes.size() - 1);
    instance.transform = one.transform;
    scene.instances.push_back(instance);
  }
  scene.bounds = world_bounds(scene);
  return std::make_shared<const Scene>(std::move(scene));
}

Transform transform_of(const Eigen::Matrix3d& linear, const Eigen::Vector3d& at = {0, 0, 0}) {
  EigenTransform transform = EigenTransform::Identity();
  transform.linear() = linear;
  transform.translation() = at;
  return transform;
}

Eigen::Matrix3d some_rotation(double angle = 1.1) {
  return Eigen::AngleAxisd(angle, Eigen::Vector3d(1, 2, -0.5).normalized()).toRotationMatrix();
}

/// What a file with so many decimals makes of a matrix.
Eigen::Matrix3d rounded(const Eigen::Matrix3d& m, double step) {
  return (m / step).array().round().matrix() * step;
}

struct Expected {
  Long area = 0, volume = 0;
  LongPoint low{}, high{};
};
Expected by_facets(const Scene& scene, std::uint32_t solid) {
  const Instance& placed = scene.instances[solid];
  const Mesh& mesh = scene.meshes[placed.mesh];
  std::vector<LongPoint> points;
  for (const Float3& v : mesh.vertices) {
    LongPoint p{};
    const std::array<Long, 3> own{static_cast<Long>(v.x), static_cast<Long>(v.y), static_cast<Long>(v.z)};
    for (int row = 0; row != 3; ++row)
      for (int column = 0; column != 3; ++column)
        p[static_cast<std::size_t>(row)] +=
            static_cast<Long>(placed.transform(row, column)) * own[static_cast<std::size_t>(column)];
    points.push_back(p);
  }
  Expected result;
  for (std::size_t axis = 0; axis != 3; ++axis) {
    const auto shift = static_cast<Long>(placed.transform(static_cast<int>(axis), 3));
    const auto by = [&](const LongPoint& a, const LongPoint& b) { return a[axis] < b[axis]; };
    result.low[axis] = (*std::min_element(points.begin(), points.end(), by))[axis] + shift;
    result.high[axis] = (*std::max_element(points.begin(), points.end(), by))[axis] + shift;
  }
  const auto distance = [](const LongPoint& a, const LongPoint& b) {
    return std::sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
  };
  Long flux = 0;
  for (const UInt3& t : mesh.triangles) {
    const LongPoint &p = points[t.x], &q = points[t.y], &r = points[t.z];
    const Long a = distance(q, r), b = distance(r, p), c = distance(p, q), half = (a + b + c) / 2;
    result.area += std::sqrt(half * (half - a) * (half - b) * (half - c));
    // The triangle's shadow on the plane of y and z, times its middle x.
    flux += ((q[1] - p[1]) * (r[2] - p[2]) - (q[2] - p[2]) * (r[1] - p[1])) / 2 * (p[0] + q[0] + r[0]) / 3;
  }
  result.volume = std::abs(flux);
  return result;
}

SolidFacts facts_of(const std::shared_ptr<const Scene>& scene, const std::vector<std::uint32_t>& solids) {
  const SceneCheck checked = check(*scene);
  return SolidMeasurer(scene).facts(solids, &checked);
}

void expect_near(double value, double expected, double relative = 1e-12) {
  EXPECT_NEAR(value, expected, relative * std::abs(expected));
}
void expect_near(const Double3& value, const Eigen::Vector3d& expected, double relative = 1e-12) {
  EXPECT_LT((to_eigen(value) - expected).norm(), relative * expected.norm())
      << to_eigen(value).transpose() << " vs " << expected.transpose();
}

TEST(SolidFacts, OfABoxAreItsEdges) {
  // Also far away, where sums about the origin would cancel.
  for (const Eigen::Vector3d& at : {Eigen::Vector3d(0, 0, 0), Eigen::Vector3d(2.4e6, -802110, 1e7)}) {
    const auto scene = scene_of_placed({box_mesh({2, 3, 5})}, {{0, transform_of(Eigen::Matrix3d::Identity(), at)}});
    const SolidFacts facts = facts_of(scene, {0});
    EXPECT_EQ(facts.solids, 1U);
    EXPECT_EQ(facts.triangles, 12U);
    EXPECT_EQ(facts.box.min, at);
    expect_near(facts.box.size(), {2, 3, 5});
    expect_near(facts.area, 2 * (6 + 10 + 15));
    ASSERT_TRUE(facts.checked && facts.volume && facts.outer_volume);
    expect_near(*facts.volume, 30);
    EXPECT_EQ(facts.not_closed + facts.inward, 0U);
  }
}

TEST(SolidFacts, FollowMirrorsScalesAndTurns) {
  const double c = std::sqrt(0.5);
  Eigen::Matrix3d turned;
  turned << c, -c, 0, c, c, 0, 0, 0, 1;
  const Eigen::Matrix3d mirrored = Eigen::Vector3d(-1, 1, 1).asDiagonal();
  const Eigen::Matrix3d uneven = Eigen::Vector3d(-2, 3, 0.5).asDiagonal();
  const auto scene = scene_of_placed({box_mesh({2, 3, 5})}, {{0, transform_of(mirrored)},
                                                             {0, transform_of(uneven)},
                                                             {0, transform_of(turned)},
                                                             {0, transform_of(1000 * turned * mirrored)},
                                                             {0, transform_of(turned * uneven)}});
  const auto one = [&](std::uint32_t i) { return facts_of(scene, {i}); };
  expect_near(*one(0).volume, 30);
  expect_near(one(0).area, 62);
  EXPECT_EQ(one(0).inward, 0U) << "normals of a mirrored solid point where its mesh's do";
  expect_near(one(0).box.min, {-2, 0, 0});
  // 4 x 9 x 2.5
  for (const std::uint32_t i : {1U, 4U}) {
    expect_near(*one(i).volume, 90);
    expect_near(one(i).area, 2 * (36 + 10 + 22.5));
  }
  expect_near(one(1).box.size(), {4, 9, 2.5});
  expect_near(one(2).box.size(), {5 * c, 5 * c, 5});
  expect_near(one(2).box.min, {-3 * c, 0, 0});
  expect_near(*one(3).volume, 30e9);
  expect_near(one(3).area, 62e6);
  expect_near(one(4).box.size(), {13 * c, 13 * c, 2.5});
}

TEST(SolidFacts, AreThoseOfAllFacets) {
  Eigen::Matrix3d sheared = some_rotation();
  sheared.col(0) += 0.4 * sheared.col(2);
  const Eigen::Matrix3d mirror = Eigen::Vector3d(1, 1, -1).asDiagonal();
  std::vector<Placed> placed;
  for (const Eigen::Matrix3d& linear :
       {Eigen::Matrix3d(250 * some_rotation()), Eigen::Matrix3d(250 * some_rotation(2) * mirror),
        rounded(some_rotation(), 1e-6), rounded(some_rotation(3), 1e-5), rounded(some_rotation(), 1e-2), sheared,
        Eigen::Matrix3d(sheared * mirror),
        Eigen::Matrix3d(Eigen::Vector3d(1, 1 + 2e-5, 1 - 1e-6).asDiagonal() * some_rotation())})
    placed.push_back({0, transform_of(linear, {1e5, 2e5, -3e5})});
  const auto scene = scene_of_placed({icosphere(4)}, placed);
  ASSERT_EQ(scene->meshes[0].triangles.size(), 20U * 256);
  const SceneCheck checked = check(*scene);
  SolidMeasurer measurer(scene);
  for (std::uint32_t i = 0; i != placed.size(); ++i) {
    const SolidFacts facts = measurer.facts(std::span(&i, 1), &checked);
    const Expected expected = by_facets(*scene, i);
    expect_near(facts.area, static_cast<double>(expected.area), 1e-9);
    ASSERT_TRUE(facts.volume);
    expect_near(*facts.volume, static_cast<double>(expected.volume), 1e-11);
    for (std::size_t axis = 0; axis != 3; ++axis) {
      EXPECT_NEAR(facts.box.min[static_cast<int>(axis)], static_cast<double>(expected.low[axis]), 1e-9);
      EXPECT_NEAR(facts.box.max[static_cast<int>(axis)], static_cast<double>(expected.high[axis]), 1e-9);
    }
  }
  // A sphere's facets approach it.
  expect_near(facts_of(scene, {0}).area, 4 * std::numbers::pi * 250 * 250, 0.01);
}

TEST(SolidFacts, OfAGroupAreItsSolidsTogether) {
  // A box of 10 in which a sphere holds a box of 1; another box of 1 lies beside them.
  const auto at = [](double scale, double x) {
    return transform_of(scale * Eigen::Matrix3d::Identity(), {x, 0.5, 0.25});
  };
  const auto scene = scene_of_placed({box_mesh({1, 1, 1}), icosphere(2)},
                                     {{0, at(10, 0)}, {1, at(3, 5), 0}, {0, at(1, 5), 1}, {0, at(1, 100), kNone}});
  const auto sphere = static_cast<double>(by_facets(*scene, 1).volume);
  const SolidFacts all = facts_of(scene, {0, 1, 2, 3});
  EXPECT_EQ(all.solids, 4U);
  EXPECT_EQ(all.triangles, 3U * 12 + 320);
  expect_near(all.area, 600 + 6 + 6 + static_cast<double>(by_facets(*scene, 1).area), 1e-11);
  expect_near(*all.volume, 1000 + sphere + 2, 1e-11);
  expect_near(*all.outer_volume, 1001, 1e-11);
  EXPECT_EQ(all.box.min, scene->bounds.min);
  EXPECT_EQ(all.box.max, scene->bounds.max);
  // The grandmother is chosen, and the mother is not.
  expect_near(*facts_of(scene, {0, 2}).outer_volume, 1000, 1e-11);
  expect_near(*facts_of(scene, {1, 3}).outer_volume, sphere + 1, 1e-11);
  expect_near(facts_of(scene, {2, 3}).box.max, {101, 1.5, 1.25});
  const SolidFacts none = facts_of(scene, {});
  EXPECT_EQ(none.solids, 0U);
  EXPECT_TRUE(none.box.empty());
  EXPECT_FALSE(none.volume);
}

TEST(SolidFacts, SayWhereThereIsNoVolume) {
  Mesh open = box_mesh({2, 2, 2});
  open.triangles.pop_back();
  open.parts = {{0, 11}};
  // A hollow cube: the inner wall looks inward.
  Mesh hollow = box_mesh({4, 4, 4});
  for (Float3 v : box_mesh({2, 2, 2}).vertices) hollow.vertices.push_back({v.x + 1, v.y + 1, v.z + 1});
  for (const UInt3& t : box_mesh({2, 2, 2}, true).triangles) hollow.triangles.push_back({t.x + 8, t.y + 8, t.z + 8});
  hollow.parts = {{0, 24}};
  const Transform here = Transform::Identity();
  const auto scene =
      scene_of_placed({open, box_mesh({2, 2, 2}, true), hollow, Mesh()}, {{0, here}, {1, here}, {2, here}, {3, here}});
  const SolidFacts leaking = facts_of(scene, {0});
  EXPECT_TRUE(leaking.checked);
  EXPECT_FALSE(leaking.volume);
  EXPECT_EQ(leaking.not_closed, 1U);
  expect_near(leaking.area, 22);
  EXPECT_NE(facts_text("a", "/a", leaking).find("\nvolume: not closed\n"), std::string::npos);
  const SolidFacts inverted = facts_of(scene, {1});
  expect_near(*inverted.volume, 8);
  EXPECT_EQ(inverted.inward, 1U);
  EXPECT_NE(facts_text("a", "/a", inverted).find("\nnormals: inward\n"), std::string::npos);
  expect_near(*facts_of(scene, {2}).volume, 64 - 8);
  expect_near(facts_of(scene, {2}).area, 96 + 24);
  const SolidFacts some = facts_of(scene, {0, 1, 2});
  EXPECT_FALSE(some.volume);
  EXPECT_NE(facts_text("a", "/a", some).find("\nvolume: not closed: 1 of 3 solids\n"), std::string::npos);
  const SolidFacts nothing = facts_of(scene, {3});
  EXPECT_FALSE(nothing.volume);
  EXPECT_TRUE(nothing.box.empty());
  EXPECT_EQ(nothing.area, 0);
  // Without the check there is no volume, and everything else.
  const std::array<std::uint32_t, 1> one{2};
  const SolidFacts early = SolidMeasurer(scene).facts(one, nullptr);
  EXPECT_FALSE(early.checked || early.volume);
  expect_near(early.area, 120);
}

TEST(SolidFacts, AreCopiedAsLinesWithUnits) {
  const auto scene = scene_of_placed({box_mesh({2, 3, 5})}, {{0, Transform::Translation({0.5, -1, 0})}});
  EXPECT_EQ(
      facts_text("box", "/world/box", facts_of(scene, {0})),
      "box\n/world/box\nsolids: 1\ntriangles: 12\nbox: 2  3  5 mm\nbox from: 0.5  -1  0 mm\nbox to: 2.5  2  5 mm\n"
      "centre: 1.5  0.5  2.5 mm\narea: 62 mm^2\nvolume: 30 mm^3\n");
}

TEST(SolidFacts, CanBeCancelled) {
  Mesh many = icosphere(3);
  const std::vector<UInt3> triangles = many.triangles;
  while (many.triangles.size() < 2'000'000)
    many.triangles.insert(many.triangles.end(), triangles.begin(), triangles.end());
  const auto scene = scene_of_placed({many}, {{0, transform_of(some_rotation())}});
  const std::array<std::uint32_t, 1> one{0};
  int reports = 0;
  const Progress progress([&](std::string_view, std::uint64_t, std::uint64_t) { return ++reports < 3; });
  SolidMeasurer measurer(scene);
  EXPECT_THROW((void)measurer.facts(one, nullptr, progress), Error);
  EXPECT_EQ(reports, 3);
  EXPECT_EQ(measurer.facts(one, nullptr).triangles, many.triangles.size())
      << "what was cancelled leaves nothing behind";
}

TEST(SolidFacts, AreTheSameForSeveralThreads) {
  std::vector<Placed> placed;
  for (int i = 0; i != 40; ++i)
    placed.push_back({0, transform_of(some_rotation(i) * Eigen::Vector3d(1, 1, 1 + i % 3).asDiagonal())});
  const auto scene = scene_of_placed({icosphere(3)}, placed);
  const SceneCheck checked = check(*scene);
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i != placed.size(); ++i) all.push_back(i);
  const SolidFacts expected = SolidMeasurer(scene).facts(all, &checked);
  SolidMeasurer measurer(scene);
  std::array<SolidFacts, 4> results;
  std::vector<std::thread> threads;
  for (SolidFacts& result : results) threads.emplace_back([&] { result = measurer.facts(all, &checked); });
  for (std::thread& thread : threads) thread.join();
  for (const SolidFacts& result : results) {
    EXPECT_EQ(result.area, expected.area);
    EXPECT_EQ(result.volume, expected.volume);
    EXPECT_EQ(result.box.min, expected.box.min);
  }
}

TEST(SolidCentre, IsThatOfTheVolumeOrElseOfTheSurfaceHoweverTheSolidIsTurned) {
  Mesh open = box_mesh({2, 2, 2});  // without its upper face: five of six, whose centre lies lower
  std::erase_if(open.triangles, [](const UInt3& t) { return t.x >= 4 && t.y >= 4 && t.z >= 4; });
  open.parts = {{0, 10}};
  const EigenTransform turned = Eigen::Translation3d(1e4, -7, 3) *
                                Eigen::AngleAxisd(0.7, Eigen::Vector3d(1, 2, -0.5).normalized()) *
                                Eigen::Scaling(-2.0, 3.0, 1.0);
  const auto scene =
      scene_of_placed({tetrahedron(), open, box_mesh({1, 2, 3}, true)}, {{0, {}}, {0, turned}, {1, {}}, {2, {}}});
  SolidMeasurer measurer(scene);
  const Eigen::Vector3d centroid(1002, 1, 3);
  EXPECT_LT((measurer.centre(0) - centroid).norm(), 1e-9) << measurer.centre(0).transpose();
  EXPECT_LT((measurer.centre(1) - turned * centroid).norm(), 1e-9) << measurer.centre(1).transpose();
  EXPECT_LT((measurer.centre(2) - Eigen::Vector3d(1, 1, 0.8)).norm(), 1e-9) << measurer.centre(2).transpose();
  EXPECT_LT((measurer.centre(3) - Eigen::Vector3d(0.5, 1, 1.5)).norm(), 1e-9) << "inside out";
}

}  // namespace
}  // namespace raylift::viewer
