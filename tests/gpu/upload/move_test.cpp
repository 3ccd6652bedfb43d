// SPDX-License-Identifier: Apache-2.0
// Solids that move and hide on a device: against double arithmetic over all triangles of the moved scene.
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/upload/gpu_geometry.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "gpu/hit_oracle.h"
#include "gpu/rays/rays.h"
#include "support/devices.h"
#include "support/effort.h"
#include "support/expect_error.h"
#include "support/random_scenes.h"

namespace raylift {
namespace {

using test::closed_scene;
using test::expect_hits;
using test::rays_in;
using test::trace_all;
using test::with_bvh;

class Moving : public test::OnDevice {};
RAYLIFT_ON_BOTH_DEVICES(Moving);

Transform random_transform(std::mt19937& random) {
  std::uniform_real_distribution<double> place(-1500, 1500), angle(0, 6), scale(0.3, 2);
  EigenTransform transform = EigenTransform::Identity();
  transform.translate(Eigen::Vector3d(place(random), place(random), place(random)))
      .rotate(Eigen::AngleAxisd(angle(random), Eigen::Vector3d(place(random), 2, 3).normalized()));
  if (random() % 2 == 0) transform.scale(Eigen::Vector3d(scale(random), -scale(random), scale(random)));
  return transform;
}

/// Gives some solids of a scene, and of its geometry, other transforms.
void move(Scene& scene, GpuGeometry& geometry, const std::vector<std::uint32_t>& solids, std::mt19937& random) {
  std::vector<Transform> transforms;
  for (const std::uint32_t solid : solids) {
    scene.instances[solid].transform = random_transform(random);
    transforms.emplace_back(scene.instances[solid].transform);
  }
  scene.bounds = world_bounds(scene);
  geometry.set_transforms(solids, transforms, Stream(geometry.device()));
}

void expect_hits_of(const Scene& scene, const GpuGeometry& geometry, std::uint32_t seed) {
  const std::vector<Ray> rays = rays_in(scene, test::effort(std::size_t{10'000}), seed);
  EXPECT_GT(expect_hits(scene, rays, trace_all(geometry, rays)), test::effort(200U));
  const double reach =
      std::max(to_eigen(scene.bounds.min).cwiseAbs().maxCoeff(), to_eigen(scene.bounds.max).cwiseAbs().maxCoeff());
  EXPECT_GE(geometry.view().reach, reach);
}

TEST_P(Moving, SolidsAreHitWhereTheyHaveMoved) {
  std::mt19937 random(1);
  Scene scene = closed_scene(6, 80);
  GpuGeometry geometry = upload(scene, device(), with_bvh());
  for (std::uint32_t round = 0; round != 4; ++round) {
    std::vector<std::uint32_t> solids;
    for (std::uint32_t i = 0; i != scene.instances.size(); ++i)
      if (random() % (round + 1) == 0) solids.push_back(i);
    move(scene, geometry, solids, random);
    expect_hits_of(scene, geometry, round);
  }
}

// A hull is in many pieces, each of which has to move.
TEST_P(Moving, APieceOfALargeSolidMovesWithIt) {
  std::mt19937 random(2);
  Scene scene = closed_scene(6, 60);
  const test::Triangles hull = test::bumpy_sphere(60, 2500, 0.1);
  scene.meshes.push_back(
      {"hull", hull.vertices, hull.triangles, {{0, static_cast<std::uint32_t>(hull.triangles.size())}}});
  scene.instances.insert(scene.instances.begin(), {1, 0, 0, kNone, Transform::Identity()});
  scene.bounds = world_bounds(scene);
  GpuGeometry geometry = upload(scene, device(), with_bvh());
  move(scene, geometry, {0, 7}, random);
  expect_hits_of(scene, geometry, 3);
}

TEST_P(Moving, MaterialsAndSidesFollow) {
  std::mt19937 random(3);
  Scene scene = test::random_scene(4, 5, 200);
  GpuGeometry geometry = upload(scene, device(), with_bvh());
  std::vector<std::uint32_t> all(scene.instances.size());
  std::iota(all.begin(), all.end(), 0U);
  move(scene, geometry, all, random);
  expect_hits_of(scene, geometry, 4);
}

TEST_P(Moving, HiddenSolidsAreNotHitAndComeBack) {
  std::mt19937 random(4);
  Scene scene = closed_scene(6, 50);
  GpuGeometry geometry = upload(scene, device(), with_bvh());
  const Stream stream(device());
  const std::vector<std::uint32_t> hidden{0, 3, 3, 17, 49};
  geometry.set_visible(hidden, false, stream);
  Scene without = scene;
  for (const std::uint32_t solid : hidden)
    without.instances[solid].transform = to_eigen(without.instances[solid].transform).scale(0.0);
  expect_hits_of(without, geometry, 5);
  // What moves while it is hidden shows up at its new place.
  move(scene, geometry, {3}, random);
  geometry.set_visible(hidden, true, stream);
  expect_hits_of(scene, geometry, 6);
}

TEST_P(Moving, NothingIsHitWhereAllIsHiddenOrFlat) {
  Scene scene = closed_scene(6, 1);
  GpuGeometry geometry = upload(scene, device(), with_bvh());
  const Stream stream(device());
  const std::vector<Ray> rays = rays_in(scene, 1000, 7);
  const auto hits = [&] {
    std::size_t count = 0;
    for (const Hit& hit : trace_all(geometry, rays)) count += hit.valid() ? 1 : 0;
    return count;
  };
  const std::size_t before = hits();
  EXPECT_GT(before, 0U);
  const std::vector<std::uint32_t> all{0};
  geometry.set_visible(all, false, stream);
  EXPECT_EQ(hits(), 0U);
  geometry.set_visible(all, true, stream);
  EXPECT_EQ(hits(), before);
  Transform flat = scene.instances[0].transform;
  for (int k = 0; k != 3; ++k) flat.m[8 + k] = 0;
  geometry.set_transforms(all, std::vector{flat}, stream);
  EXPECT_EQ(hits(), 0U);
  geometry.set_transforms(all, std::vector<Transform>{scene.instances[0].transform}, stream);
  EXPECT_EQ(hits(), before);
}

TEST_P(Moving, ReachGrowsAndOriginIsSubtracted) {
  Scene scene = closed_scene(6, 5);
  UploadOptions options = with_bvh();
  options.origin = Double3{1000, 0, 0};
  GpuGeometry geometry = upload(scene, device(), options);
  const float before = geometry.view().reach;
  const Transform far = Transform::Translation({5e6, 0, 0});
  const std::vector<std::uint32_t> one{2};
  geometry.set_transforms(one, std::vector<Transform>{far}, Stream(device()));
  EXPECT_GT(geometry.view().reach, 4.99e6F);
  EXPECT_LT(before, 1e4F);
  const std::vector<Hit> hits = trace_all(geometry, {{LocalPoint(0, 0, 0), 0, {1, 0, 0}}});
  ASSERT_TRUE(hits[0].valid());
  EXPECT_EQ(hits[0].instance, 2U);
  EXPECT_NEAR(hits[0].t, 5e6 - 1000 - 100, 20);
}

/// Gives a mesh other vertices: turned, stretched and crumpled.
std::vector<Float3> crumpled(const Mesh& mesh, float by) {
  std::vector<Float3> vertices = mesh.vertices;
  for (Float3& v : vertices) {
    const float wave = 1 + by * std::sin(0.05F * (v.x + 2 * v.y - v.z));
    v = {wave * v.y, -wave * 1.5F * v.x, wave * v.z + by * 30};
  }
  return vertices;
}

void refit(Scene& scene, GpuGeometry& geometry, std::uint32_t mesh, float by) {
  scene.meshes[mesh].vertices = crumpled(scene.meshes[mesh], by);
  scene.bounds = world_bounds(scene);
  const Stream stream(geometry.device());
  DeviceBuffer<Float3> vertices(geometry.device(), scene.meshes[mesh].vertices.size());
  vertices.copy_from(scene.meshes[mesh].vertices, stream);
  geometry.refit(mesh, vertices.view(), stream);
}

TEST_P(Moving, AMeshIsHitWhereItsVerticesHaveMoved) {
  Scene scene = closed_scene(12, 40);
  const test::Triangles hull = test::bumpy_sphere(60, 2500, 0.1);
  scene.meshes.push_back({"nothing", {{0, 0, 0}}, {}, {{0, 0}}});
  scene.meshes.push_back(
      {"hull", hull.vertices, hull.triangles, {{0, static_cast<std::uint32_t>(hull.triangles.size())}}});
  scene.instances.push_back({2, 0, 0, kNone, Transform::Identity()});
  scene.bounds = world_bounds(scene);
  GpuGeometry geometry = upload(scene, device(), with_bvh());
  refit(scene, geometry, 0, 0.3F);
  expect_hits_of(scene, geometry, 8);
  refit(scene, geometry, 2, 0.2F);
  expect_hits_of(scene, geometry, 9);
  std::mt19937 random(5);
  move(scene, geometry, {3, 40}, random);
  expect_hits_of(scene, geometry, 10);
}

TEST_P(Moving, AFlatSceneIsRefittedAsAWhole) {
  Scene scene = closed_scene(16, 1);
  scene.instances[0].transform = Transform::Identity();
  scene.bounds = world_bounds(scene);
  GpuGeometry geometry = upload(scene, device(), with_bvh(true));
  refit(scene, geometry, 0, 0.3F);
  expect_hits_of(scene, geometry, 11);
}

TEST_P(Moving, VerticesThatAreNoneAreRefusedBeforeAnythingChanges) {
  Scene scene = closed_scene(6, 20);
  GpuGeometry geometry = upload(scene, device(), with_bvh());
  Scene wrong = scene;
  wrong.meshes[0].vertices[5].y = std::numeric_limits<float>::quiet_NaN();
  const Stream stream(device());
  const auto problem = [&](std::uint32_t mesh, const std::vector<Float3>& given) {
    DeviceBuffer<Float3> vertices(device(), given.size());
    vertices.copy_from(given, stream);
    return std::string(
        test::expect_error(ErrorKind::usage, [&] { geometry.refit(mesh, vertices.view(), stream); }).what());
  };
  EXPECT_THAT(problem(0, wrong.meshes[0].vertices), testing::HasSubstr("not finite"));
  EXPECT_THAT(problem(1, scene.meshes[0].vertices), testing::HasSubstr("no mesh 1"));
  EXPECT_THAT(problem(0, {{0, 0, 0}}), testing::HasSubstr("1 vertices were given for the"));
  expect_hits_of(scene, geometry, 12);
}

TEST_P(Moving, RefusesWhatMakesNoSense) {
  Scene scene = closed_scene(6, 5);
  const Stream stream(device());
  const std::vector<std::uint32_t> one{1}, twice{1, 1}, missing{5};
  const std::vector<Transform> transform(1), transforms(2);
  GpuGeometry geometry = upload(scene, device(), with_bvh());
  const auto expect_usage = [&](GpuGeometry& of, const auto& solids, const auto& given, const char* text) {
    EXPECT_THAT(test::expect_error(ErrorKind::usage, [&] { of.set_transforms(solids, given, stream); }).what(),
                testing::HasSubstr(text));
  };
  expect_usage(geometry, twice, transforms, "twice");
  expect_usage(geometry, missing, transform, "no solid 5");
  expect_usage(geometry, one, transforms, "2 transforms");
  std::vector<Transform> nan(1);
  nan[0].m[3] = std::numeric_limits<double>::quiet_NaN();
  expect_usage(geometry, one, nan, "not finite");
  GpuGeometry flat = upload(scene, device(), with_bvh(true));
  expect_usage(flat, std::vector<std::uint32_t>{0}, transform, "flattened");
  UploadOptions plain = with_bvh();
  plain.bvh = false;
  GpuGeometry bare = upload(scene, device(), plain);
  expect_usage(bare, one, transform, "no BVH");
}

}  // namespace
}  // namespace raylift
