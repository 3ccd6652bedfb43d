// SPDX-License-Identifier: Apache-2.0
// Many rays at once: the same bits as one ray at a time, whatever the instructions and the order of visits.
#include "geometry/src/bvh/bvh_batch.h"
#include "bvh/bvh_lanes.h"
#include "support/triangles_and_rays.h"

#include <raylift/geometry/bvh/bvh.h>
#include <raylift/geometry/bvh/scene_bvh.h>
#include <raylift/geometry/scene/eigen.h>

#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace raylift {
namespace {

using test::bumpy_sphere;
using test::RandomRays;
using test::soup;
using test::Triangles;

// Some start or end amid the mesh or before their origin, some are axis-parallel, some start on a vertex.
std::vector<Ray> rays_at(const Triangles& mesh, std::size_t count, double radius, std::uint32_t seed) {
  RandomRays random(radius, seed);
  std::vector<Ray> rays(count);
  for (std::size_t i = 0; i < count; ++i) {
    rays[i] = random();
    if (i % 5 == 1) rays[i].tmax = static_cast<float>(radius);
    if (i % 7 == 1) rays[i].tmin = static_cast<float>(radius / 4);
    if (i % 11 == 1) rays[i].direction = {0, i % 2 == 0 ? 1.0f : -1.0f, -0.0f};
    if (i % 17 == 1) rays[i].tmin = static_cast<float>(-radius / 3);
    if (i % 13 == 1) rays[i].origin = LocalPoint(mesh.vertices[i % mesh.vertices.size()]);
  }
  return rays;
}

// Forty rays that lie close together, and forty others, and so on: within 1e-6 to 0.3 of a direction, from one point or
// a patch. Some of them are all the same, start on a vertex, run along an axis, or differ in where they begin and end.
std::vector<Ray> bundles_at(const Triangles& mesh, std::size_t count, double radius, std::uint32_t seed) {
  RandomRays random(radius, seed);
  std::vector<Ray> rays(count);
  for (std::size_t bundle = 0; bundle < count; bundle += 40) {
    const std::size_t k = bundle / 80;
    Ray middle = random();
    if (k % 7 == 1) middle.origin = LocalPoint(mesh.vertices[bundle % mesh.vertices.size()]);
    if (k % 11 == 3) middle.direction = {k % 2 == 0 ? 1.0f : -1.0f, 0, -0.0f};
    const auto width =
        static_cast<float>(k % 9 == 4 ? 0 : 0.3 * std::pow(10.0, -5.0 * static_cast<double>(k % 13) / 12));
    const auto patch = static_cast<float>(k % 5 == 2 ? 0.05 * radius : 0);
    for (std::size_t i = bundle; i < std::min(count, bundle + 40); ++i) {
      const Ray other = random();
      const Float3 o = middle.origin, d = middle.direction, by = other.direction;
      rays[i] = {LocalPoint(o.x + patch * by.y, o.y + patch * by.z, o.z + patch * by.x),
                 0,
                 {d.x + width * by.x, d.y + width * by.y, d.z + width * by.z},
                 middle.tmax};
      if (k % 17 == 5) rays[i].tmin = static_cast<float>(radius / 8 * static_cast<double>(i % 4));
      if (k % 19 == 6) rays[i].tmax = static_cast<float>(radius / 2 * static_cast<double>(1 + i % 3));
      if (k % 23 == 7 && i % 16 == 9) rays[i].direction.y = std::numeric_limits<float>::quiet_NaN();
      if (k % 29 == 8) rays[i].tmin = -1;
      if (bundle % 80 != 0) rays[i] = other;
    }
  }
  return rays;
}

// By all instructions that the CPU has. Returns how many of the rays went as packets.
std::size_t expect_same(const BvhView& view, BvhLevels levels, const std::vector<Ray>& rays) {
  std::vector<Hit> one(rays.size()), lanes(rays.size());
  bvh::trace_portable(view, levels, rays.data(), one.data(), rays.size());
  std::size_t together = 0;
  for (const auto& trace : {bvh::trace_avx2, bvh::has_avx512() ? bvh::trace_avx512 : bvh::trace_avx2}) {
    together = trace(view, levels, rays.data(), lanes.data(), rays.size());
    for (std::size_t i = 0; i < rays.size(); ++i) {
      EXPECT_EQ(0, std::memcmp(&one[i], &lanes[i], sizeof(Hit))) << "ray " << i;
      if (testing::Test::HasFailure()) return 0;
    }
  }
  const auto hits =
      static_cast<std::size_t>(std::count_if(one.begin(), one.end(), [](const Hit& hit) { return hit.valid(); }));
  EXPECT_GT(hits, rays.size() / 100);
  EXPECT_LT(hits, rays.size());
  return together;
}

class BvhLanes : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!bvh::has_avx2()) GTEST_SKIP() << "this CPU has no AVX2";
  }
};

TEST_F(BvhLanes, GiveTheSameBitsOnASphere) {
  const Triangles mesh = bumpy_sphere(60);
  const Bvh bvh = build_bvh(mesh.vertices, mesh.triangles);
  expect_same(bvh.view(), BvhLevels::mesh, rays_at(mesh, 50000, 1500, 21));
  EXPECT_GT(expect_same(bvh.view(), BvhLevels::mesh, bundles_at(mesh, 50000, 1500, 31)), 1000u) << "no packets";
}

TEST_F(BvhLanes, GiveTheSameBitsThroughTheEdgesOfAGrid) {
  // Each ray through a vertex or along a row of edges; the second half runs in the plane of the mesh.
  Triangles mesh;
  constexpr std::uint32_t kSide = 33;
  for (std::uint32_t i = 0; i < kSide * kSide; ++i)
    mesh.vertices.push_back({static_cast<float>(i % kSide), static_cast<float>(i / kSide), 0});
  for (std::uint32_t i = 0; i + kSide < kSide * kSide; ++i) {
    if (i % kSide + 1 == kSide) continue;
    mesh.triangles.push_back({i, i + 1, i + kSide});
    mesh.triangles.push_back({i + 1, i + kSide + 1, i + kSide});
  }
  const Bvh bvh = build_bvh(mesh.vertices, mesh.triangles);
  std::vector<Ray> rays;
  for (std::uint32_t i = 0; i < 4096; ++i) {
    const auto x = static_cast<float>(0.5 * (i % 64)), y = static_cast<float>(0.5 * (i / 64));
    rays.push_back({LocalPoint(16, 16, -8), 0, {x - 16, y - 16, 8}, 2});
  }
  for (std::uint32_t i = 0; i < 4096; ++i)
    rays.push_back({LocalPoint(-1, static_cast<float>(0.25 * (i % 128)), static_cast<float>(1e-7 * (i / 128))),
                    0,
                    {1, 0, 0},
                    100});
  EXPECT_GT(expect_same(bvh.view(), BvhLevels::mesh, rays), 1000u) << "no packets";
}

TEST_F(BvhLanes, GiveTheSameBitsOnASoup) {
  for (const float size : {0.02f, 0.1f, 0.7f}) {
    const Triangles mesh = soup(2000, size, 22);
    for (const std::uint32_t leaf_pairs : {1u, 3u}) {
      const Bvh bvh = build_bvh(mesh.vertices, mesh.triangles, {true, leaf_pairs});
      expect_same(bvh.view(), BvhLevels::mesh, rays_at(mesh, 20000, 2, 23));
      expect_same(bvh.view(), BvhLevels::mesh, bundles_at(mesh, 20000, 2, 32));
    }
  }
}

TEST_F(BvhLanes, GiveTheSameBitsWhereManyHitsHaveTheSameDistance) {
  // Twenty copies of a coarse sphere: every hit has twenty equals.
  const Triangles once = bumpy_sphere(6, 1, 0);
  Triangles mesh{once.vertices, {}};
  for (int copy = 0; copy < 20; ++copy)
    mesh.triangles.insert(mesh.triangles.end(), once.triangles.begin(), once.triangles.end());
  const Bvh bvh = build_bvh(mesh.vertices, mesh.triangles);
  std::vector<Ray> rays = rays_at(mesh, 20000, 0.9, 24);
  expect_same(bvh.view(), BvhLevels::mesh, rays);
  EXPECT_GT(expect_same(bvh.view(), BvhLevels::mesh, bundles_at(mesh, 20000, 0.9, 33)), 1000u) << "no packets";
}

TEST_F(BvhLanes, GiveTheSameBitsInTwoLevels) {
  Scene scene;
  const Triangles ball = bumpy_sphere(12, 1, 0.1), grains = soup(200, 0.2f, 25);
  scene.meshes.push_back({"ball", ball.vertices, ball.triangles, {}});
  scene.meshes.push_back({"grains", grains.vertices, grains.triangles, {}});
  RandomRays random(8, 26);
  for (std::uint32_t i = 0; i < 300; ++i) {
    Instance instance;
    instance.mesh = i % 2;
    const Float3 at = random().origin;
    EigenTransform transform(Eigen::Translation3d(at.x, at.y, at.z));
    transform.rotate(Eigen::AngleAxisd(0.1 * i, Eigen::Vector3d::UnitZ()));
    if (i % 3 == 0) transform.scale(Eigen::Vector3d(1, -1, 0.5));
    instance.transform = transform;
    if (i % 10 == 9) instance.transform = scene.instances.back().transform;  // coincident, of the other mesh
    scene.instances.push_back(instance);
    if (i % 20 == 19) scene.instances.push_back(scene.instances.back());  // and of the same
  }
  const SceneBvh bvh = build_bvh(scene, Eigen::Vector3d::Zero());
  ASSERT_GT(bvh.instance_nodes, 0u);
  expect_same(bvh.view(), BvhLevels::scene, rays_at(ball, 50000, 10, 27));
  EXPECT_GT(expect_same(bvh.view(), BvhLevels::scene, bundles_at(ball, 50000, 10, 34)), 1000u) << "no packets";
}

TEST_F(BvhLanes, TakeAnyNumberOfRays) {
  const Triangles mesh = bumpy_sphere(20, 1, 0);
  const Bvh bvh = build_bvh(mesh.vertices, mesh.triangles);
  const std::vector<Ray> rays = rays_at(mesh, 40, 0.5, 28);
  for (std::size_t count = 0; count <= rays.size(); ++count) {
    const Hit untouched{-1, 7, 0, 0, {0, 0, 0}, 0, 0};
    std::vector<Hit> hits(count + 1, untouched);
    closest_hits(bvh.view(), BvhLevels::mesh, std::span(rays).first(count), std::span(hits).first(count));
    for (std::size_t i = 0; i < count; ++i) {
      const Hit expected = closest_hit(bvh.view(), rays[i]);
      ASSERT_EQ(0, std::memcmp(&hits[i], &expected, sizeof(Hit)));
    }
    EXPECT_EQ(0, std::memcmp(&hits[count], &untouched, sizeof(Hit)));
  }
}

// What a walk with nothing to look for counts: how often it asks how far to look, that is, the nodes and one more.
struct Steps {
  static constexpr bool kSmall = false;
  float tmin;
  int* count;
  float farthest() const {
    ++*count;
    return std::numeric_limits<float>::infinity();
  }
  bool done() const { return false; }
  static float around() { return 0; }
  bool offer(const BvhView&, const bvh_detail::Impression&, bvh_detail::Site) { return false; }
  void decide(const BvhView&, const Ray&, bvh_detail::Site) {}
};

TEST(BvhBatch, RaysWithANanMeetNothingAtOnce) {
  const Triangles mesh = bumpy_sphere(20, 1, 0);
  const Bvh bvh = build_bvh(mesh.vertices, mesh.triangles);
  const Ray sound{LocalPoint(0.1f, 0.2f, -3), 0, {0, 0.01f, 1}, 10};
  ASSERT_TRUE(closest_hit(bvh.view(), sound).valid());
  for (std::size_t k = 0; k < 8; ++k) {
    float numbers[8];
    std::memcpy(numbers, &sound, sizeof numbers);
    numbers[k] = std::numeric_limits<float>::quiet_NaN();
    Ray ray;
    std::memcpy(static_cast<void*>(&ray), numbers, sizeof numbers);
    int count = 0;
    bvh_detail::Stack<false> stack;
    Steps query{ray.tmin, &count};
    bvh_detail::traverse<false>(bvh.view(), ray, stack, query);
    EXPECT_EQ(count, 1) << k;
    Hit hit;
    for (const auto& trace : {bvh::trace_portable, bvh::has_avx2() ? bvh::trace_avx2 : bvh::trace_portable}) {
      trace(bvh.view(), BvhLevels::mesh, &ray, &hit, 1);
      EXPECT_FALSE(hit.valid()) << k;
    }
  }
}

TEST(BvhBatch, GivesTheHitsOfSingleRays) {
  const Triangles mesh = soup(3000, 0.1f, 29);
  const Bvh bvh = build_bvh(mesh.vertices, mesh.triangles);
  const std::vector<Ray> rays = rays_at(mesh, 30000, 2, 30);
  std::vector<Hit> hits(rays.size());
  closest_hits(bvh.view(), BvhLevels::mesh, rays, hits);
  for (std::size_t i = 0; i < rays.size(); ++i) {
    const Hit expected = closest_hit(bvh.view(), rays[i]);
    ASSERT_EQ(0, std::memcmp(&hits[i], &expected, sizeof(Hit))) << "ray " << i;
  }
}

TEST(BvhBatch, OfNothingHitsNothing) {
  const std::vector<Ray> rays(3, Ray{LocalPoint(0, 0, 0), 0, {0, 0, 1}, 9});
  std::vector<Hit> hits(3);
  closest_hits(Bvh().view(), BvhLevels::mesh, rays, hits);
  for (const Hit& hit : hits) {
    EXPECT_FALSE(hit.valid());
    EXPECT_EQ(hit.t, 9);
  }
}

}  // namespace
}  // namespace raylift
