// SPDX-License-Identifier: Apache-2.0
// The BVH and its rays: structure, agreement with brute force, no leaks, every odd input.
#include "support/bvh_walker.h"
#include "support/expect_error.h"
#include "support/triangles_and_rays.h"

#include <raylift/geometry/bvh/bvh.h>

#include <gtest/gtest.h>
#include <tbb/global_control.h>
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace raylift {
namespace {

using test::bumpy_sphere;
using test::expect_sound;
using test::RandomRays;
using test::soup;
using test::Triangles;
using ::testing::HasSubstr;

Bvh build(const Triangles& mesh, const Bvh::Options& options = {}) {
  return build_bvh(mesh.vertices, mesh.triangles, options);
}

// Nearest t by double Moeller-Trumbore over all triangles. `margin`: the ray's distance from an edge of the
// triangle hit or of one that it just misses in front of it.
struct Reference {
  double t = 1e300;
  std::uint32_t triangle = kNoTriangle;
  double margin = 1e300;
};

Reference brute_force(const Triangles& mesh, const Ray& ray) {
  Reference best;
  const auto sub = [](Float3 a, Float3 b) {
    return std::array<double, 3>{double(a.x) - b.x, double(a.y) - b.y, double(a.z) - b.z};
  };
  const auto cross = [](const auto& a, const auto& b) {
    return std::array<double, 3>{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  };
  const auto dot = [](const auto& a, const auto& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; };
  const std::array<double, 3> d{ray.direction.x, ray.direction.y, ray.direction.z};
  for (std::uint32_t i = 0; i < mesh.triangles.size(); ++i) {
    const UInt3 tri = mesh.triangles[i];
    const Float3 a = mesh.vertices[tri.x];
    const auto e = sub(mesh.vertices[tri.y], a), f = sub(mesh.vertices[tri.z], a), o = sub(ray.origin, a);
    const auto p = cross(d, f);
    const double det = dot(e, p);
    if (det == 0) continue;
    const double u = dot(o, p) / det;
    const auto q = cross(o, e);
    const double v = dot(d, q) / det, t = dot(f, q) / det;
    if (t < ray.tmin || t >= ray.tmax) continue;
    const double inside = std::min({u, v, 1 - u - v});
    if (std::fabs(inside) < 1e-4) best.margin = std::min(best.margin, std::fabs(inside));
    if (inside >= 0 && t < best.t) {
      best.t = t;
      best.triangle = i;
    }
  }
  return best;
}

void expect_agrees(const Triangles& mesh, double radius, std::uint32_t seed, int rays) {
  const Bvh bvh = build(mesh);
  expect_sound(bvh, mesh);
  RandomRays random(radius, seed);
  int compared = 0, hits = 0;
  for (int i = 0; i < rays; ++i) {
    const Ray ray = random();
    const Reference reference = brute_force(mesh, ray);
    if (reference.margin < 1e-4) continue;  // an edge tie: rounding decides
    ++compared;
    const Hit hit = closest_hit(bvh.view(), ray);
    ASSERT_EQ(hit.valid(), reference.triangle != kNoTriangle) << "ray " << i;
    ASSERT_EQ(any_hit(bvh.view(), ray), hit.valid());
    if (!hit.valid()) continue;
    ++hits;
    ASSERT_NEAR(hit.t, reference.t, 1e-4 * (radius + reference.t));
    // The weights give the same point, so they belong to the right corners; the normal determines the side.
    const UInt3 t = mesh.triangles[hit.triangle];
    const Float3 a = mesh.vertices[t.x], b = mesh.vertices[t.y], c = mesh.vertices[t.z];
    const float w = 1 - hit.u - hit.v;
    const double tolerance = 1e-4 * (radius + reference.t);
    ASSERT_NEAR(w * a.x + hit.u * b.x + hit.v * c.x, ray.origin.x + hit.t * ray.direction.x, tolerance);
    ASSERT_NEAR(w * a.y + hit.u * b.y + hit.v * c.y, ray.origin.y + hit.t * ray.direction.y, tolerance);
    ASSERT_NEAR(w * a.z + hit.u * b.z + hit.v * c.z, ray.origin.z + hit.t * ray.direction.z, tolerance);
    const double along = double(hit.normal.x) * ray.direction.x + double(hit.normal.y) * ray.direction.y +
                         double(hit.normal.z) * ray.direction.z;
    ASSERT_EQ(hit.from_inside, along > 0);
  }
  EXPECT_GT(compared, rays / 2);
  EXPECT_GT(hits, rays / 20);
}

TEST(Bvh, AgreesWithBruteForceOnASphere) {
  expect_agrees(bumpy_sphere(24), 1500, 1, 3000);
}
TEST(Bvh, AgreesWithBruteForceOnLargeTriangles) {
  expect_agrees(soup(800, 0.5f, 2), 2, 3, 3000);
}
TEST(Bvh, AgreesWithBruteForceOnSmallTriangles) {
  expect_agrees(soup(4000, 0.08f, 4), 2, 5, 2000);
}

TEST(Bvh, KeepsItsFormatForEveryOption) {
  const Triangles mesh = bumpy_sphere(40);
  for (const bool pairs : {false, true})
    for (const std::uint32_t leaf : {1u, 2u, 3u, 4u}) expect_sound(build(mesh, {pairs, leaf}), mesh, leaf);
}

TEST(Bvh, TakesTheSmallestStepsThatSpanANode) {
  // 255 steps of 1, exactly; then more by less than a float of that size can tell.
  for (const auto& [below, exponent] : {std::pair(0.0f, 127), {0x1p-30f, 128}}) {
    const Triangles mesh{{{-below, -below, -below}, {255, 0, 255}, {0, 255, 3}}, {{0, 1, 2}}};
    const Bvh bvh = build(mesh);
    expect_sound(bvh, mesh);
    for (const std::uint8_t found : bvh.nodes[0].exponent) EXPECT_EQ(found, exponent);
  }
}

TEST(Bvh, PairsTheTrianglesOfAGridAndStaysSmall) {
  const Triangles mesh = bumpy_sphere(200);
  const Bvh bvh = build(mesh);
  EXPECT_LT(static_cast<double>(bvh.pairs.size()), 0.53 * static_cast<double>(mesh.triangles.size()));
  EXPECT_LT(static_cast<double>(bvh.bytes()), 40.0 * static_cast<double>(mesh.triangles.size()));
}

// The same triangles in an order that says nothing about where they are.
Triangles shuffled(Triangles mesh) {
  std::mt19937 random(7);
  for (std::size_t i = mesh.triangles.size() - 1; i > 0; --i)
    std::swap(mesh.triangles[i], mesh.triangles[random() % (i + 1)]);
  return mesh;
}

TEST(Bvh, PairsTrianglesInAnyOrder) {
  const Triangles mesh = shuffled(bumpy_sphere(300));
  const Bvh bvh = build(mesh);
  expect_sound(bvh, mesh);
  EXPECT_LT(static_cast<double>(bvh.pairs.size()), 0.54 * static_cast<double>(mesh.triangles.size()));
}

TEST(Bvh, FillsItsNodes) {
  const Bvh bvh = build(bumpy_sphere(200));
  std::size_t used = 0;
  for (const bvh_detail::BvhNode& node : bvh.nodes)
    for (int s = 0; s < 8; ++s) used += node.is_empty(s) ? 0 : 1;
  EXPECT_GT(static_cast<double>(used), 5.5 * static_cast<double>(bvh.nodes.size()));
}

TEST(Bvh, OfNothingHitsNothing) {
  const Bvh bvh = build_bvh(std::span<const Float3>(), std::span<const UInt3>());
  EXPECT_TRUE(bvh.nodes.empty());
  EXPECT_FALSE(closest_hit(bvh.view(), {LocalPoint(0, 0, 0), 0, {0, 0, 1}}).valid());
  EXPECT_FALSE(any_hit(bvh.view(), {LocalPoint(0, 0, 0), 0, {0, 0, 1}}));
}

const Triangles kOne{{{0, 0, 5}, {1, 0, 5}, {0, 1, 5}}, {{0, 1, 2}}};

TEST(Bvh, OfOneTriangleGivesItsWeightsSideAndRange) {
  const Bvh bvh = build(kOne);
  expect_sound(bvh, kOne);
  Ray ray{LocalPoint(0.25f, 0.5f, 0), 0, {0, 0, 2}};
  const Hit hit = closest_hit(bvh.view(), ray);
  ASSERT_TRUE(hit.valid());
  EXPECT_FLOAT_EQ(hit.t, 2.5f);  // in lengths of the direction
  EXPECT_FLOAT_EQ(hit.u, 0.25f);
  EXPECT_FLOAT_EQ(hit.v, 0.5f);
  EXPECT_EQ(hit.normal, (Float3{0, 0, 1}));
  EXPECT_TRUE(hit.from_inside);
  const Hit back = closest_hit(bvh.view(), {LocalPoint(0.25f, 0.5f, 10), 0, {0, 0, -1}});
  ASSERT_TRUE(back.valid());
  EXPECT_FALSE(back.from_inside);

  EXPECT_FALSE(closest_hit(bvh.view(), ray, 0).valid());  // excluded
  EXPECT_FALSE(any_hit(bvh.view(), ray, 0));
  ray.tmax = 2.5f;  // the far end is open, the near one closed
  EXPECT_FALSE(any_hit(bvh.view(), ray));
  ray.tmax = 3;
  ray.tmin = 2.5f;
  EXPECT_TRUE(any_hit(bvh.view(), ray));
  ray.tmin = 2.6f;
  EXPECT_FALSE(any_hit(bvh.view(), ray));
}

TEST(Bvh, TakesCoincidentDegenerateAndPointTriangles) {
  Triangles mesh;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    const float z = i % 3 == 0 ? 5.0f : 4.0f;
    mesh.vertices.insert(mesh.vertices.end(), {{0, 0, z}, {1, 0, z}, {0, 1, z}});
    const std::uint32_t k = 3 * i;
    mesh.triangles.push_back(i % 3 == 0   ? UInt3{k, k + 1, k + 2}
                             : i % 3 == 1 ? UInt3{k, k, k}
                                          : UInt3{k, k + 1, k + 1});
  }
  const Bvh bvh = build(mesh);
  expect_sound(bvh, mesh);
  const Hit hit = closest_hit(bvh.view(), {LocalPoint(0.25f, 0.25f, 0), 0, {0, 0, 1}});
  ASSERT_TRUE(hit.valid());
  EXPECT_EQ(hit.t, 5);
  EXPECT_EQ(hit.triangle % 3, 0u);
}

TEST(Bvh, StaysShallowWhereSizesSpanManyOrdersOfMagnitude) {
  // Each triangle twice as large as the one before: the heuristic splits off one at a time.
  Triangles mesh;
  float size = 1e-18f;
  for (std::uint32_t i = 0; i < 115; ++i, size *= 2) {
    for (std::uint32_t copy = 0; copy < 20; ++copy) {
      const auto k = static_cast<std::uint32_t>(mesh.vertices.size());
      mesh.vertices.insert(mesh.vertices.end(), {{size, 0, 0}, {size, size, 0}, {size, 0, size}});
      mesh.triangles.push_back({k, k + 1, k + 2});
    }
  }
  const Bvh bvh = build(mesh);
  expect_sound(bvh, mesh);
  const Hit hit = closest_hit(bvh.view(), {LocalPoint(-1, 0.1f, 0.1f), 0, {1, 0, 0}});
  ASSERT_TRUE(hit.valid());
}

TEST(Bvh, IsTheSameForAnyNumberOfThreads) {
  Triangles mesh = shuffled(bumpy_sphere(300));  // with the next one, large enough for the parallel loops in a node
  const Triangles ordered = bumpy_sphere(300);
  for (const UInt3& t : ordered.triangles) {
    const auto base = static_cast<std::uint32_t>(ordered.vertices.size());
    mesh.triangles.push_back({base + t.x, base + t.y, base + t.z});
  }
  mesh.vertices.insert(mesh.vertices.end(), ordered.vertices.begin(), ordered.vertices.end());
  std::vector<Bvh> built;
  for (const std::size_t threads : {1u, 2u, 5u}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    built.push_back(build(mesh));
  }
  expect_sound(built[0], mesh);
  for (const Bvh& bvh : built) {
    ASSERT_EQ(bvh.nodes.size(), built[0].nodes.size());
    EXPECT_EQ(0, std::memcmp(bvh.nodes.data(), built[0].nodes.data(), bvh.nodes.size() * sizeof(bvh_detail::BvhNode)));
    EXPECT_EQ(
        0, std::memcmp(bvh.pairs.data(), built[0].pairs.data(), bvh.pairs.size() * sizeof(bvh_detail::TrianglePair)));
    EXPECT_EQ(0, std::memcmp(bvh.ids.data(), built[0].ids.data(), bvh.ids.size() * sizeof(bvh_detail::PairIds)));
  }
}

// Rays from inside of a closed mesh; returns how many get out. Half of them aim at vertices and at points of edges.
int escapes(const Triangles& mesh, double radius, std::uint32_t seed, int rays, Float3 offset = {0, 0, 0}) {
  Triangles moved = mesh;
  for (Float3& v : moved.vertices) v = {v.x + offset.x, v.y + offset.y, v.z + offset.z};
  const Bvh bvh = build(moved);
  RandomRays random(radius, seed);
  std::mt19937 pick(seed);
  int lost = 0;
  for (int i = 0; i < rays; ++i) {
    Ray ray = random();
    ray.origin = LocalPoint(ray.origin.x + offset.x, ray.origin.y + offset.y, ray.origin.z + offset.z);
    if (i % 2 == 0) {
      const UInt3 t = moved.triangles[pick() % moved.triangles.size()];
      const Float3 a = moved.vertices[t.x], b = moved.vertices[t.y];
      const float s = i % 4 == 0 ? 0.0f : static_cast<float>(pick() % 1024) / 1024.0f;
      ray.direction = {a.x + s * (b.x - a.x) - ray.origin.x, a.y + s * (b.y - a.y) - ray.origin.y,
                       a.z + s * (b.z - a.z) - ray.origin.z};
    } else if (i % 16 == 1) {  // along an axis or in a coordinate plane
      if (i % 32 == 1) ray.direction.x = 0;
      (i % 64 < 32 ? ray.direction.y : ray.direction.z) = -0.0f;
    }
    if (!closest_hit(bvh.view(), ray).valid()) ++lost;
  }
  return lost;
}

TEST(Bvh, LetsNoRayOutOfAClosedMesh) {
  EXPECT_EQ(escapes(bumpy_sphere(300), 800, 11, 200000), 0);
}
TEST(Bvh, LetsNoRayOutFarFromTheOrigin) {
  EXPECT_EQ(escapes(bumpy_sphere(100), 800, 12, 100000, {2.4e6f, -1e6f, 3e5f}), 0);
}
TEST(Bvh, LetsNoRayOutOfACoarseMesh) {
  EXPECT_EQ(escapes(bumpy_sphere(4, 1, 0), 0.2, 13, 100000), 0);
}
TEST(SlowBvh, LetsNoneOfTenMillionRaysOut) {
  EXPECT_EQ(escapes(bumpy_sphere(500), 800, 14, 10000000), 0);
}

TEST(Bvh, RefusesWhatIsNoMesh) {
  Triangles mesh = kOne;
  mesh.triangles[0].z = 3;
  EXPECT_THAT(test::expect_error(ErrorKind::malformed, [&] { (void)build(mesh); }).what(), HasSubstr("triangle 0"));
  mesh = kOne;
  mesh.vertices[1].y = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(test::expect_error(ErrorKind::malformed, [&] { (void)build(mesh); }).what(), HasSubstr("vertex 1"));
  mesh.vertices[1].y = 1e30f;
  EXPECT_THAT(test::expect_error(ErrorKind::limit, [&] { (void)build(mesh); }).what(), HasSubstr("vertex 1"));
  mesh = kOne;  // of 1e-16
  for (Float3& v : mesh.vertices) v = {1e-16f * v.x, 1e-16f * v.y, 1e-16f * v.z};
  EXPECT_THAT(test::expect_error(ErrorKind::limit, [&] { (void)build(mesh); }).what(), HasSubstr("smaller than 1e-15"));
  for (Float3& v : mesh.vertices) v = {0, 0, 0};  // but without any extent it is only one without area
  EXPECT_EQ(build(mesh).pairs.size(), 1u);
  EXPECT_THAT(test::expect_error(ErrorKind::usage,
                                 [&] {
                                   (void)build(kOne, {true, 5});
                                 })
                  .what(),
              HasSubstr("leaf_pairs"));
}

}  // namespace
}  // namespace raylift
