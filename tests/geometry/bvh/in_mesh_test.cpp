// SPDX-License-Identifier: Apache-2.0
// Rays on their way into the frame of a mesh that is only moved: a sum of floats has to be what double gives, and boxes
// are to have the slack that they have in one level, no less and no more.
#include <gtest/gtest.h>
#include <raylift/geometry/bvh/bvh.h>
#include <raylift/geometry/bvh/scene_bvh.h>

#include <cmath>
#include <limits>
#include <random>

#include "exact_tally.h"
#include "support/triangles_and_rays.h"

namespace raylift {
namespace {

using bvh_detail::in_mesh;
using bvh_detail::only_moves;
using Eigen::Vector3d;

// Rounded to double at each sum, and to float in the end.
Float3 by_doubles(const Affine& to_mesh, Float3 v, double of_shift) {
  const auto row = [&](const float* r) {
    volatile double sum = double{r[0]} * v.x + double{r[1]} * v.y;
    sum = sum + double{r[2]} * v.z;
    return static_cast<float>(sum + of_shift * r[3]);
  };
  return {row(to_mesh.m), row(to_mesh.m + 4), row(to_mesh.m + 8)};
}

void expect_same(Float3 a, Float3 b) {
  EXPECT_EQ(a.x, b.x);
  EXPECT_EQ(a.y, b.y);
  EXPECT_EQ(a.z, b.z);
}

bvh_detail::InstanceNode placed_by(const Affine& to_mesh) {
  bvh_detail::InstanceNode placed{};
  placed.to_mesh = to_mesh;
  return placed;
}

TEST(BvhInMesh, AMovedMeshGetsWhatDoubleGives) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> unit(-1, 1);
  std::uniform_int_distribution<int> power(-70, 60), sign(0, 1), near(-3, 3);
  const auto zero = [&] { return sign(random) == 0 ? 0.0f : -0.0f; };
  for (int i = 0; i != 200'000; ++i) {
    // Terms of any sizes, of about the same size, and nearly opposite ones.
    const auto at = [&] { return std::ldexp(unit(random), power(random)); };
    Float3 origin{at(), at(), at()};
    const auto shift = [&](float from) {
      switch (i % 3) {
        case 0:
          return at();
        case 1:
          return std::ldexp(from, near(random)) * unit(random);
        default:
          return -from * (1 + std::ldexp(unit(random), -20));
      }
    };
    // Where the smaller one is about half an ulp of the larger one.
    if (i % 7 == 0) origin.x = std::ldexp(1 + 0x1p-23f, -24 + near(random) / 3);
    const Affine to_mesh{{1, zero(), zero(), i % 7 == 0 ? 1 + 0x1p-23f : shift(origin.x), zero(), 1, zero(),
                          shift(origin.y), zero(), zero(), 1, shift(origin.z)}};
    ASSERT_TRUE(only_moves(placed_by(to_mesh)));
    const Ray ray{LocalPoint(origin), 0.5f, {at(), zero(), at()}, 7};
    const Ray in = in_mesh(placed_by(to_mesh), ray);
    expect_same(in.origin, by_doubles(to_mesh, ray.origin, 1));
    expect_same(in.direction, by_doubles(to_mesh, ray.direction, 0));
    EXPECT_EQ(in.tmin, ray.tmin);
    EXPECT_EQ(in.tmax, ray.tmax);
    if (HasFailure()) FAIL() << "ray " << i;
  }
}

TEST(BvhInMesh, WhatTurnsOrScalesALittleDoesNotOnlyMove) {
  const Affine moves{{1, 0, -0.0f, 5, 0, 1, 0, -3, -0.0f, 0, 1, 1e30f}};
  EXPECT_TRUE(only_moves(placed_by(moves)));
  for (const int k : {0, 5, 10})
    for (const float value : {-1.0f, 0.0f, 1 + 0x1p-23f, 1 - 0x1p-24f}) {
      Affine other = moves;
      other.m[k] = value;
      EXPECT_FALSE(only_moves(placed_by(other))) << value << " at " << k;
    }
  for (const int k : {1, 2, 4, 6, 8, 9})
    for (const float value : {1.0f, -1.0f, std::numeric_limits<float>::denorm_min(),
                              -std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::quiet_NaN()}) {
      Affine other = moves;
      other.m[k] = value;
      EXPECT_FALSE(only_moves(placed_by(other))) << value << " at " << k;
    }
}

// Moving a prepared ray leaves what preparing it in the mesh's frame would give, slack included.
TEST(BvhInMesh, AMovedRayIsAsOneThatIsPreparedThere) {
  using bvh_detail::PreparedRay;
  std::mt19937 random(2);
  std::uniform_real_distribution<float> unit(-1, 1);
  std::uniform_int_distribution<int> power(-30, 40), slope(-50, 3);
  std::size_t along = 0;
  for (int i = 0; i != 100'000; ++i) {
    const auto at = [&](int exponent) { return std::ldexp(unit(random), exponent); };
    const float dx = at(slope(random)), dy = at(slope(random)), dz = at(slope(random));
    const float ox = at(power(random)), oy = at(power(random)), oz = at(power(random));
    const Affine to_mesh{{1, 0, 0, at(power(random)), 0, 1, 0, at(power(random)), 0, 0, 1, at(power(random))}};
    const Ray ray{LocalPoint(ox, oy, oz), i % 3 == 0 ? 0 : at(power(random)), {dx, dy, dz}};
    const float around = i % 2 == 0 ? 0 : std::abs(at(power(random)));
    PreparedRay moved(ray, bvh_detail::RaySpace::world, around);
    if (moved.is_along_a_plane()) {
      ++along;
      continue;
    }
    const float slack = bvh_detail::slack_around([&] { return ray; }, around);
    moved.move(bvh_detail::moved(placed_by(to_mesh), ray.origin), ray.tmin, slack);
    const PreparedRay there(in_mesh(placed_by(to_mesh), ray), bvh_detail::RaySpace::mesh, around);
    expect_same(moved.origin, there.origin);
    for (int a = 0; a != 3; ++a) {
      EXPECT_EQ(moved.inverse[a], there.inverse[a]);
      EXPECT_EQ(moved.least_far[a], there.least_far[a]);
    }
    EXPECT_EQ(moved.shear_x, there.shear_x);
    EXPECT_EQ(moved.shear_y, there.shear_y);
    EXPECT_EQ(moved.order(), there.order());
    EXPECT_EQ(moved.kz(), there.kz());
    EXPECT_FALSE(moved.in_mesh());
    EXPECT_TRUE(there.in_mesh());
    if (HasFailure()) FAIL() << "ray " << i;
  }
  EXPECT_LT(along, 1000U);
}

Scene moved_mesh(const test::Triangles& mesh, const Vector3d& by) {
  Scene scene;
  scene.meshes.push_back({"mesh", mesh.vertices, mesh.triangles, {}});
  scene.instances.push_back({0, 0, 0, kNone, Transform::Translation(by)});
  return scene;
}

// How many pairs of triangles rays test, on average.
template <bool kScene>
double pairs_tested(const BvhView& bvh, const std::vector<Ray>& rays) {
  using namespace bvh_detail;
  std::size_t pairs = 0;
  for (const Ray& ray : rays) {
    Stack<kScene> stack;
    Nearest<Any> query(ray, stack.cold(), {});
    Walk<kScene> walk(ray);
    if constexpr (kScene) stack.save(walk.ray);
    const auto world = [&]() -> const Ray& { return ray; };
    while (advance(bvh, walk, stack, world, query.tmin, query.farthest(), 0))
      for (; walk.hits.pairs != 0; ++pairs) {
        const std::uint32_t index = next_pair(walk.hits);
        if (const std::uint32_t open = intersect_pair(bvh, index, walk.ray, walk.placed, query); open != 0)
          decide_pair(bvh, index, open, ray, walk.placed, query);
      }
    EXPECT_NE(query.site().triangle, kNoTriangle);
  }
  return static_cast<double>(pairs) / static_cast<double>(rays.size());
}

// Boxes are as tight far from the world's origin as at it: the slack for a ray's way into a mesh is not for the mesh's
// own boxes. The mesh's triangles are as large as a step of a float there.
TEST(BvhInMesh, AMeshFarAwayCostsRaysNoMore) {
  const test::Triangles mesh = test::bumpy_sphere(100, 20);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<Ray> rays(500);
  for (Ray& ray : rays) {
    const float x = normal(random), y = normal(random), z = normal(random);
    ray = {LocalPoint(0, 0, 0), 0, {x, y, z}};
  }
  const double at_home = pairs_tested<false>(build_bvh(mesh.vertices, mesh.triangles).view(), rays);
  const float far = 0x1p22f;
  for (Ray& ray : rays) ray.origin = LocalPoint(far, far, -far);
  const Scene scene = moved_mesh(mesh, Vector3d(far, far, -far));
  const double away = pairs_tested<true>(build_bvh(scene, Vector3d::Zero()).view(), rays);
  EXPECT_GT(at_home, 1);
  EXPECT_LT(away, 1.01 * at_home);
}

// A ray from the world's origin along an axis, beside the edge of a mesh by little: on its way there it drifts off by
// more than that in terms of what stands for a component of zero.
TEST(BvhInMesh, AMeshFarAwayIsHitAlongAnAxis) {
  test::Triangles quad;
  quad.vertices = {{0, -1, -1}, {0, 0, -1}, {0, 0, 0}, {0, -1, 0}};
  quad.triangles = {{0, 1, 2}, {0, 2, 3}};
  for (const int power : {10, 36, 40, 47, 51, 57, 59}) {
    SCOPED_TRACE(power);
    const double far = std::ldexp(1.0, power);
    const SceneBvh bvh = build_bvh(moved_mesh(quad, Vector3d(far, 0, 0)), Vector3d::Zero());
    std::vector<Ray> rays;
    for (const float beside : {0x1p-40f, 0x1p-30f, 0.00125f, 0.1f, 0.5f})
      for (const float slope : {0.0f, -0.0f, 0x1p-149f, 0x1p-70f})
        rays.push_back({LocalPoint(0, -beside, -0.5f), 0, {1, -slope, slope}});
    for (const auto& [name, trace] : test::tracers()) {
      if (name == "single") continue;  // of one level
      SCOPED_TRACE(name);
      std::vector<Hit> hits(rays.size());
      trace(bvh.view(), BvhLevels::scene, rays.data(), hits.data(), rays.size());
      for (std::size_t i = 0; i != rays.size(); ++i) {
        ASSERT_TRUE(hits[i].valid()) << "ray " << i;
        EXPECT_EQ(hits[i].t, static_cast<float>(far));
      }
    }
  }
}

}  // namespace
}  // namespace raylift
