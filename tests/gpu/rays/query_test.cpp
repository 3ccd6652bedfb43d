// SPDX-License-Identifier: Apache-2.0
// Ray queries over uploaded geometry, in one level and in two, on each device: against double arithmetic over all
// triangles.
#include <gtest/gtest.h>
#include <raylift/geometry/bvh/bvh.h>
#include <raylift/geometry/bvh/scene_bvh.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/rays/query.h>
#include <raylift/gpu/rays/trace.h>

#include "gpu/hit_oracle.h"
#include "rays.h"
#include "support/devices.h"
#include "support/random_scenes.h"

namespace raylift {
namespace {

using test::closed_scene;
using test::rays_in;
using test::with_bvh;

class Query : public test::OnDevice {
 protected:
  std::vector<Hit> trace_all(const GpuGeometry& geometry, const std::vector<Ray>& rays) {
    return test::trace_all(geometry, rays);
  }
};

TEST_P(Query, TwoLevelsHitWhatDoubleArithmeticSays) {
  for (const unsigned seed : {1U, 2U}) {
    const Scene scene = test::random_scene(seed, 7, 300);
    const GpuGeometry geometry = upload(scene, device(), with_bvh());
    const std::vector<Ray> rays = rays_in(scene, 20'000, seed);
    EXPECT_GT(test::expect_hits(scene, rays, trace_all(geometry, rays)), 200U);
  }
}

TEST_P(Query, AHullIsTakenToPiecesAndHitAllTheSame) {
  Scene scene = closed_scene(8, 60);
  const test::Triangles hull = test::bumpy_sphere(60, 2500, 0.1);
  scene.meshes.push_back(
      {"hull", hull.vertices, hull.triangles, {{0, static_cast<std::uint32_t>(hull.triangles.size())}}});
  scene.instances.insert(scene.instances.begin(), {1, 0, 0, kNone, Transform::Identity()});
  scene.bounds = world_bounds(scene);
  const SceneBvh bvh = build_bvh(scene, Eigen::Vector3d::Zero());
  std::size_t of_hull = 0, of_others = 0;
  for (std::uint32_t i = 0; i != bvh.instance_nodes; ++i) {
    const auto placed = std::bit_cast<bvh_detail::InstanceNode>(bvh.nodes[i]);
    if (placed.zero == 0) (placed.instance == 0 ? of_hull : of_others) += 1;
  }
  EXPECT_GT(of_hull, 20U);
  EXPECT_LE(of_hull, 257U);
  EXPECT_EQ(of_others, 60U) << "what is small stays whole";

  const GpuGeometry geometry = upload(scene, device(), with_bvh());
  const std::vector<Ray> rays = rays_in(scene, 5'000, 4);
  EXPECT_GT(test::expect_hits(scene, rays, trace_all(geometry, rays)), 1000U);
}

// On its way there a ray drifts off by more than it passes the mesh's edge by, in terms of what stands for a component
// of zero.
TEST_P(Query, AMovedMeshFarAwayIsHitAlongAnAxis) {
  for (const int power : {10, 36, 47, 57}) {
    SCOPED_TRACE(power);
    const double far = std::ldexp(1.0, power);
    Scene scene = closed_scene(6, 1);
    scene.meshes[0].vertices = {{0, -1, -1}, {0, 0, -1}, {0, 0, 0}, {0, -1, 0}};
    scene.meshes[0].triangles = {{0, 1, 2}, {0, 2, 3}};
    scene.meshes[0].parts = {{0, 2}};
    scene.instances[0].transform = Transform::Translation({far, 0, 0});
    scene.bounds = world_bounds(scene);
    UploadOptions options = with_bvh();
    options.origin = Eigen::Vector3d::Zero();
    std::vector<Ray> rays;
    for (int i = 0; i != 64; ++i)
      rays.push_back({LocalPoint(0, -std::ldexp(1.0F, -1 - i), -0.5F), 0, {1, i % 2 == 0 ? 0.0F : -0x1p-70F, 0}});
    for (const Hit& hit : trace_all(upload(scene, device(), options), rays)) {
      ASSERT_TRUE(hit.valid());
      EXPECT_EQ(hit.t, static_cast<float>(far));
    }
  }
}

TEST_P(Query, OneLevelAndTwoAgree) {
  const Scene scene = closed_scene(40, 200);
  const GpuGeometry two = upload(scene, device(), with_bvh());
  const GpuGeometry one = upload(scene, device(), with_bvh(true));
  EXPECT_EQ(one.view().bvh_levels, 1U);
  EXPECT_EQ(two.view().bvh_levels, 2U);
  const std::vector<Ray> rays = rays_in(scene, 50'000, 3);
  const std::vector<Hit> a = trace_all(one, rays), b = trace_all(two, rays);
  const std::uint32_t triangles = static_cast<std::uint32_t>(scene.meshes[0].triangles.size());
  std::size_t found = 0, differ = 0;
  for (std::size_t i = 0; i != rays.size(); ++i) {
    found += a[i].valid();
    // Rays that graze an edge may pass on one side of it here and on the other there.
    const bool same = a[i].valid() == b[i].valid() &&
                      (!a[i].valid() || (a[i].triangle == b[i].triangle + b[i].instance * triangles &&
                                         std::fabs(a[i].t - b[i].t) <= 0.02F && a[i].from_inside == b[i].from_inside));
    differ += same ? 0 : 1;
    if (!same || !a[i].valid()) continue;
    const auto length = [](Float3 n) { return std::sqrt(n.x * n.x + n.y * n.y + n.z * n.z); };
    const float cosine =
        (a[i].normal.x * b[i].normal.x + a[i].normal.y * b[i].normal.y + a[i].normal.z * b[i].normal.z) /
        (length(a[i].normal) * length(b[i].normal));
    ASSERT_GT(cosine, 0.999F) << "ray " << i;
  }
  EXPECT_GT(found, 1000U);
  EXPECT_LT(differ, found / 500);
}

// Near the origin on a triangle that reaches far, its corners' rounding counts, and not the point's.
TEST_P(Query, SpawnedRaysLeaveLargeTriangles) {
  Scene scene = closed_scene(6, 1);
  const float r = 10'000;
  scene.meshes[0].vertices = {{-r, -r, -0.37F * r}, {r, -r, 0.41F * r}, {0.3F * r, r, 0.013F * r}, {0, 0, -2 * r}};
  scene.meshes[0].triangles = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
  scene.meshes[0].parts = {{0, 4}};
  scene.instances[0].transform = Transform::Identity();
  scene.bounds = world_bounds(scene);
  UploadOptions options = with_bvh();
  options.origin = Double3{0, 0, 0};
  const GpuGeometry geometry = upload(scene, Device::host(), options);
  std::mt19937 random(3);
  std::uniform_real_distribution<float> place(-50, 50), part(-1, 1);
  std::size_t spawned = 0;
  for (int i = 0; i != 20'000; ++i) {
    const Hit hit = closest_hit(geometry.view(), {LocalPoint(place(random), place(random), 5000), 0, {0, 0, -1}});
    if (!hit.valid() || hit.triangle != 0) continue;
    ++spawned;
    const Ray next = spawn(geometry.view(), hit, {part(random), part(random), part(random)});
    const Hit after = closest_hit(geometry.view(), next);
    ASSERT_FALSE(after.valid() && after.triangle == 0) << i;
  }
  EXPECT_GT(spawned, 10'000U);
}

// Spawned rays start on the side that they point to, near the plane of the triangle, and never meet it.
TEST_P(Query, SpawnedRaysLeaveTheirSurface) {
  for (const bool flat : {false, true})
    for (const double away : {0.0, 3e6}) {
      Scene scene = closed_scene(12, 60);
      for (Instance& instance : scene.instances) instance.transform(1, 3) += away;
      scene.bounds = world_bounds(scene);
      UploadOptions options = with_bvh(flat);
      options.origin = Double3{0, 0, 0};
      const GpuGeometry geometry = upload(scene, Device::host(), options);
      const GeometryView& view = geometry.view();
      std::mt19937 random(9);
      std::uniform_real_distribution<float> part(-1, 1);
      std::size_t spawned = 0;
      for (const Ray& ray : rays_in(scene, 20'000, 8)) {
        const Hit hit = closest_hit(view, ray);
        if (!hit.valid()) continue;
        const Ray next = spawn(view, hit, {part(random), part(random), part(random)});
        const Hit after = closest_hit(view, next);
        ++spawned;
        ASSERT_FALSE(after.valid() && after.triangle == hit.triangle && after.instance == hit.instance) << spawned;
        const Eigen::Vector3d normal =
            Eigen::Vector3d(double{hit.normal.x}, double{hit.normal.y}, double{hit.normal.z}).normalized();
        const Float3 corner =
            view.instances[hit.instance].to_world.point(view.vertices[view.triangles[hit.triangle].x]);
        const Eigen::Vector3d off(double{next.origin.x} - double{corner.x}, double{next.origin.y} - double{corner.y},
                                  double{next.origin.z} - double{corner.z});
        const Eigen::Vector3d direction(double{next.direction.x}, double{next.direction.y}, double{next.direction.z});
        const double distance = off.dot(normal) * (direction.dot(normal) < 0 ? -1 : 1);
        // The corner itself is rounded, by one 2^-24 of its largest coordinate or more.
        const double error = (2500 + away) * 0x1p-22;
        ASSERT_GT(distance, -error);
        ASSERT_LT(distance, 4 * (2500 + away) * 0x1p-19 + error);
      }
      EXPECT_GT(spawned, 500U);
    }
}

TEST_P(Query, NoRayLeavesAClosedMeshThatIsAnInstance) {
  const Scene scene = closed_scene(60, 30);
  const GpuGeometry geometry = upload(scene, device(), with_bvh());
  for (std::uint32_t k = 0; k != scene.instances.size(); ++k) {
    test::RandomRays random(30, k);
    std::vector<Ray> rays(3'000);
    const Eigen::Vector3f middle = to_eigen(scene.instances[k].transform).translation().cast<float>();
    for (Ray& ray : rays) {
      ray = random();
      ray.origin = LocalPoint(ray.origin.x + middle.x(), ray.origin.y + middle.y(), ray.origin.z + middle.z());
    }
    for (const Hit& hit : trace_all(geometry, rays)) ASSERT_TRUE(hit.valid());
  }
}

TEST_P(Query, RaysThatBeginLaterMissWhatLiesBefore) {
  const Scene scene = closed_scene(20, 100);
  const GpuGeometry geometry = upload(scene, device(), with_bvh());
  std::vector<Ray> rays = rays_in(scene, 5'000, 11);
  std::vector<Hit> first = trace_all(geometry, rays);
  std::vector<Ray> behind = rays;
  for (std::size_t i = 0; i != rays.size(); ++i) {
    if (!first[i].valid()) continue;
    rays[i].tmin = std::nextafter(first[i].t, 1e30F);
    behind[i].tmin = first[i].t + 1;
  }
  EXPECT_GT(test::expect_hits(scene, behind, trace_all(geometry, behind)), 100U);
  const std::vector<Hit> next = trace_all(geometry, rays);
  for (std::size_t i = 0; i != rays.size(); ++i)
    if (first[i].valid() && next[i].valid()) {
      ASSERT_GT(next[i].t, first[i].t) << "ray " << i;
    }
}

TEST_P(Query, NeedsNoOptions) {
  const Scene scene = closed_scene(20, 50);
  const std::vector<Ray> rays = rays_in(scene, 2'000, 9);
  EXPECT_GT(test::expect_hits(scene, rays, trace_all(upload(scene, device()), rays)), 100U);
  const std::vector<Hit> flat = trace_all(upload(flatten(scene), {}, device()), rays);
  EXPECT_GT(std::count_if(flat.begin(), flat.end(), [](const Hit& hit) { return hit.valid(); }), 100);
}

TEST_P(Query, WithoutAHierarchyItIsAnError) {
  const Scene scene = test::random_scene(1);
  UploadOptions without;
  without.bvh = false;
  const GpuGeometry geometry = upload(scene, device(), without);
  EXPECT_EQ(geometry.view().bvh_levels, 0U);
  const Stream stream(device());
  EXPECT_THROW(trace(geometry, nullptr, nullptr, 1, stream), Error);
  if (!device().info().is_host) return;
  for (const Ray& ray : rays_in(scene, 100, 9)) {
    EXPECT_FALSE(closest_hit(geometry.view(), ray).valid());
    EXPECT_FALSE(any_hit(geometry.view(), ray));
  }
}

TEST_P(Query, NothingToHitIsNoError) {
  Scene scene = test::random_scene(1);
  for (Instance& instance : scene.instances) instance.transform = to_eigen(instance.transform).scale(0.0);
  const std::vector<Ray> rays(10, Ray{LocalPoint(0, 0, 0), 0, {0, 0, 1}, 5});
  for (const Hit& hit : trace_all(upload(scene, device(), with_bvh()), rays)) {
    EXPECT_FALSE(hit.valid());
    EXPECT_EQ(hit.t, 5);
  }
  scene.instances.clear();
  scene.optics = {};
  for (const Hit& hit : trace_all(upload(scene, device(), with_bvh()), rays)) EXPECT_FALSE(hit.valid());
  for (const Hit& hit : trace_all(upload(scene, device(), with_bvh(true)), rays)) EXPECT_FALSE(hit.valid());
}

RAYLIFT_ON_BOTH_DEVICES(Query);

TEST(SceneQuery, LeavesOutTheTriangleThatTheRayStartsOn) {
  const Scene scene = closed_scene(20, 50);
  const GpuGeometry geometry = upload(scene, Device::host(std::uint64_t{64} << 20), with_bvh());
  const GeometryView& view = geometry.view();
  std::size_t found = 0;
  for (const Ray& ray : rays_in(scene, 2'000, 9)) {
    const Hit first = closest_hit(view, ray);
    EXPECT_EQ(any_hit(view, ray), first.valid());
    if (!first.valid()) continue;
    ++found;
    Ray shorter = ray;
    shorter.tmax = std::nextafter(first.t, 1e30F);
    EXPECT_TRUE(any_hit(view, shorter));
    const Hit second = closest_hit(view, shorter, first.triangle, first.instance);
    EXPECT_FALSE(second.triangle == first.triangle && second.instance == first.instance);
    // The same triangle of another instance counts.
    EXPECT_EQ(closest_hit(view, ray, first.triangle, first.instance + 1).instance, first.instance);
  }
  EXPECT_GT(found, 100U);
}

TEST(SceneBvhTest, ManyInstancesOfAMeshCostOneMesh) {
  const Scene one = closed_scene(60, 1), many = closed_scene(60, 1000);
  const SceneBvh a = build_bvh(one, Eigen::Vector3d::Zero()), b = build_bvh(many, Eigen::Vector3d::Zero());
  EXPECT_EQ(a.pairs.size(), b.pairs.size());
  EXPECT_EQ(a.nodes.size() - a.instance_room, b.nodes.size() - b.instance_room);
  EXPECT_LT(b.instance_nodes, 1500U);
}

TEST(SceneBvhTest, NamesTheMeshThatIsBroken) {
  Scene scene = closed_scene(8, 2);
  scene.meshes[0].vertices[5].y = std::numeric_limits<float>::quiet_NaN();
  try {
    (void)build_bvh(scene, Eigen::Vector3d::Zero());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::malformed);
    EXPECT_EQ(error.element(), "mesh 'sphere'");
  }
}

}  // namespace
}  // namespace raylift
