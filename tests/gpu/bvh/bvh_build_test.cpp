// SPDX-License-Identifier: Apache-2.0
// BVHs built on each device: the same hits as from the host's builder, the same tree each time, on any input.
#include <gtest/gtest.h>
#include <raylift/geometry/bvh/bvh.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/scene/scene.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/rays/query.h>
#include <raylift/gpu/rays/trace.h>

#include <cstring>

#include "bvh/bvh_build_limit.h"
#include "gpu/src/bvh/bvh_build.h"
#include "rays/bvh_quality.h"
#include "support/bvh_walker.h"
#include "support/devices.h"
#include "support/exact_shapes.h"
#include "support/triangles_and_rays.h"

namespace raylift {
namespace {

class BvhBuild : public test::OnDevice {
 protected:
  DeviceBvh build(const test::Triangles& mesh, const Bvh::Options& options = {}) {
    const Stream stream(device());
    DeviceBuffer<Float3> vertices(device(), mesh.vertices.size());
    DeviceBuffer<UInt3> triangles(device(), mesh.triangles.size());
    vertices.copy_from(std::span<const Float3>(mesh.vertices), stream);
    triangles.copy_from(std::span<const UInt3>(mesh.triangles), stream);
    return build_bvh(device(), vertices.device(), vertices.size(), triangles.device(), triangles.size(), options,
                     stream);
  }
  Bvh build_and_fetch(const test::Triangles& mesh, const Bvh::Options& options = {}) {
    return build(mesh, options).to_host(Stream(device()));
  }

  /// Every ray hits at the same distance as with the host's tree, up to rounding: triangles may start at another
  /// corner.
  void expect_same_hits(const test::Triangles& mesh, const Bvh& bvh, double radius, std::size_t count) {
    const Bvh expected = build_bvh(mesh.vertices, mesh.triangles);
    test::RandomRays random(radius, 7);
    std::size_t found = 0;
    for (std::size_t i = 0; i != count; ++i) {
      const Ray ray = random();
      const Hit wanted = closest_hit(expected.view(), ray), got = closest_hit(bvh.view(), ray);
      ASSERT_EQ(got.valid(), wanted.valid()) << "ray " << i;
      if (!got.valid()) continue;
      ++found;
      ASSERT_NEAR(got.t, wanted.t, 1e-5 * radius) << "ray " << i;
    }
    EXPECT_GT(found, 0U);
  }
};

TEST_P(BvhBuild, GivesTheHitsOfTheHostsTree) {
  const test::Triangles mesh = test::bumpy_sphere(200);
  const Bvh bvh = build_and_fetch(mesh);
  test::expect_sound(bvh, mesh);
  expect_same_hits(mesh, bvh, 800, 20'000);
  EXPECT_LT(static_cast<double>(bvh.bytes()), 40.0 * static_cast<double>(mesh.triangles.size()));
}

TEST_P(BvhBuild, TakesAnyTriangles) {
  for (const std::uint32_t count : {1U, 2U, 3U, 4U, 15U, 16U, 17U, 31U, 33U, 64U, 65U, 255U, 257U, 1000U, 5000U}) {
    const test::Triangles mesh = test::soup(count, 0.2F, count);
    const Bvh bvh = build_and_fetch(mesh);
    test::expect_sound(bvh, mesh);
    if (count > 100) expect_same_hits(mesh, bvh, 1, 2'000);
  }
}

TEST_P(BvhBuild, TakesThinTriangles) {
  for (const test::ShapeModel& model : test::shape_zoo())
    for (const std::uint32_t turn : {0U, 3U}) {
      SCOPED_TRACE(model.name);
      const test::Triangles mesh = test::place(model, {1, {1000, -300, 20}, turn}).mesh;
      for (const bool pairs : {true, false}) test::expect_sound(build_and_fetch(mesh, {pairs, 2}), mesh);
    }
}

TEST_P(BvhBuild, TakesCoincidentTrianglesAndPoints) {
  test::Triangles mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  mesh.triangles.assign(5000, {0, 1, 2});
  test::expect_sound(build_and_fetch(mesh), mesh);
  mesh.triangles.assign(700, {1, 1, 1});
  test::expect_sound(build_and_fetch(mesh), mesh);
  // Boxes without area: all trees over them cost the same.
  mesh.vertices.clear();
  mesh.triangles.clear();
  for (std::uint32_t i = 0; i != 5000; ++i) {
    mesh.vertices.push_back({static_cast<float>(i * i % 4999), 0, 0});
    mesh.triangles.push_back({i, i, i});
  }
  test::expect_sound(build_and_fetch(mesh), mesh);
}

/// What a line through the root's box visits, by the surface area heuristic. A device that chose its wide nodes by the
/// sizes of boxes alone exceeds this by its pairs.
TEST_P(BvhBuild, CostsRaysLittleMoreThanTheHosts) {
  for (const test::Triangles& mesh : {test::bumpy_sphere(300), test::soup(50'000, 0.03F, 5)}) {
    const bench::BvhQuality own = bench::measure_quality(build_and_fetch(mesh), {});
    const bench::BvhQuality host = bench::measure_quality(build_bvh(mesh.vertices, mesh.triangles), {});
    EXPECT_LT(own.sah_nodes, 1.06 * host.sah_nodes);
    EXPECT_LT(own.sah_pairs, 1.02 * host.sah_pairs);
  }
}

TEST_P(BvhBuild, IsTheSameEachTime) {
  const test::Triangles mesh = test::soup(30'000, 0.05F, 1);
  const Bvh first = build_and_fetch(mesh), second = build_and_fetch(mesh);
  ASSERT_EQ(first.nodes.size(), second.nodes.size());
  EXPECT_EQ(std::memcmp(first.nodes.data(), second.nodes.data(), first.nodes.size() * sizeof(bvh_detail::BvhNode)), 0);
  EXPECT_EQ(std::memcmp(first.ids.data(), second.ids.data(), first.ids.size() * sizeof(bvh_detail::PairIds)), 0);
}

TEST_P(BvhBuild, HonoursItsOptions) {
  const test::Triangles mesh = test::bumpy_sphere(60);
  for (const std::uint32_t leaf : {1U, 2U, 4U}) {
    const Bvh bvh = build_and_fetch(mesh, {false, leaf});
    test::expect_sound(bvh, mesh, leaf);
    EXPECT_EQ(bvh.pairs.size(), mesh.triangles.size());
    for (const bvh_detail::BvhNode& node : bvh.nodes)
      for (int s = 0; s != 8; ++s) ASSERT_LT(node.pair_bits(s), 1U << leaf);
  }
  EXPECT_THROW((void)build(mesh, {true, 0}), Error);
}

/// The device's builder numbers pairs and nodes in 30 bits. Few machines hold 2^29 pairs; so the limit is lowered.
TEST_P(BvhBuild, LeavesWhatItCannotNumberToTheHost) {
  const test::Triangles mesh = test::bumpy_sphere(60);
  const Stream stream(device());
  DeviceBuffer<Float3> vertices(device(), mesh.vertices.size());
  DeviceBuffer<UInt3> triangles(device(), mesh.triangles.size());
  vertices.copy_from(std::span<const Float3>(mesh.vertices), stream);
  triangles.copy_from(std::span<const UInt3>(mesh.triangles), stream);
  const auto build_within = [&](const detail::BuildLimits& limits) {
    return detail::build_bvh_within(limits, device(), vertices.device(), vertices.size(), triangles.device(),
                                    triangles.size(), {}, stream)
        .to_host(stream);
  };
  const auto same = [](const Bvh& a, const Bvh& b) {
    return a.nodes.size() == b.nodes.size() && a.pairs.size() == b.pairs.size() &&
           std::memcmp(a.nodes.data(), b.nodes.data(), a.nodes.size() * sizeof(bvh_detail::BvhNode)) == 0;
  };
  const Bvh on_host = build_bvh(mesh.vertices, mesh.triangles);
  const Bvh on_device = build_and_fetch(mesh);
  const auto pairs = static_cast<std::uint32_t>(on_device.pairs.size());
  EXPECT_TRUE(same(build_within({.most_pairs = pairs - 1}), on_host));
  EXPECT_TRUE(same(build_within({.most_pairs = pairs}), on_device));
  EXPECT_TRUE(same(build_within({.few_triangles = 0}), on_device)) << "as large meshes are built";
  EXPECT_EQ(same(on_host, on_device), device().info().is_host);
}

TEST_P(BvhBuild, SaysWhatIsWrong) {
  test::Triangles mesh = test::bumpy_sphere(20);
  const auto problem = [&] {
    try {
      (void)build(mesh);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  mesh.triangles[17].y = 100'000;
  EXPECT_NE(problem().find("triangle 17"), std::string::npos);
  mesh = test::bumpy_sphere(20);
  mesh.vertices[9].z = std::nanf("");
  EXPECT_NE(problem().find("vertex 9"), std::string::npos);
  mesh.vertices[9].z = 1e19F;
  EXPECT_NE(problem().find("1e18"), std::string::npos);
  EXPECT_EQ(build({}).nodes.size(), 0U);
}

TEST_P(BvhBuild, LeavesNoMemoryBehind) {
  const test::Triangles mesh = test::bumpy_sphere(100);
  (void)build(mesh);
  const std::uint64_t active = device().backend()->pool_bytes().active;
  for (int i = 0; i != 3; ++i) (void)build(mesh);
  EXPECT_EQ(device().backend()->pool_bytes().active, active);
}

TEST_P(BvhBuild, BuildsTheTreesOfAnUpload) {
  Scene scene;
  scene.source = "made in a test";
  scene.materials.push_back({"m", {}});
  scene.nodes.push_back({"world", kNone, std::nullopt});
  for (const std::uint32_t n : {200U, 30U}) {  // one large enough for the device, one not
    const test::Triangles sphere = test::bumpy_sphere(n, 100);
    scene.meshes.push_back(
        {"sphere", sphere.vertices, sphere.triangles, {{0, static_cast<std::uint32_t>(sphere.triangles.size())}}});
    EigenTransform transform = EigenTransform::Identity();
    transform.translate(Eigen::Vector3d(n, 0, 0));
    scene.instances.push_back({static_cast<std::uint32_t>(scene.meshes.size() - 1), 0, 0, kNone, transform});
  }
  scene.bindings.push_back({0});
  scene.bounds = world_bounds(scene);
  for (const bool flat : {false, true}) {
    UploadOptions options;
    options.bvh = true;
    options.flatten = flat;
    options.bvh_builder = UploadOptions::BvhBuilder::device;
    const GpuGeometry geometry = upload(scene, device(), options);
    // One that is not joined with others stays where it was built, and its mesh with it.
    const bool stays = flat && !device().info().is_host;
    for (const ResidencyReport::Array& row : geometry.report().arrays)
      EXPECT_EQ(row.in_place, stays && (row.name == "nodes" || row.name == "pairs" || row.name == "pair_ids" ||
                                        row.name == "triangles" || row.name == "vertices"))
          << row.name;
    test::RandomRays random(60, 3);
    std::vector<Ray> rays(5'000);
    for (Ray& ray : rays) {
      ray = random();
      ray.origin.x += 200;
    }
    const Stream stream(device());
    DeviceBuffer<Ray> device_rays(device(), rays.size());
    device_rays.copy_from(std::span<const Ray>(rays), stream);
    const DeviceBuffer<Hit> device_hits(device(), rays.size());
    trace(geometry, device_rays.device(), device_hits.device(), rays.size(), stream);
    std::vector<Hit> hits(rays.size());
    device_hits.copy_to(std::span(hits), stream);
    stream.synchronize();
    for (const Hit& hit : hits) ASSERT_TRUE(hit.valid());
  }
}

RAYLIFT_ON_BOTH_DEVICES(BvhBuild);

}  // namespace
}  // namespace raylift
