// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/scene/scene.h>

#include <numbers>
#include <random>

namespace raylift {
namespace {

Mesh triangle(const std::string& name) {
  return {name, {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}}, {{0, 1}}};
}

/// World > Vessel > pmt, with a solid in the last two.
Scene nested() {
  Scene scene;
  scene.meshes = {triangle("vessel_mesh"), triangle("pmt_mesh")};
  scene.materials = {{"Steel", {}}, {"Glass", {}}};
  scene.bindings = {{0}, {1}};
  scene.nodes = {{"World", kNone, {}}, {"Vessel", 0, {}}, {"pmt", 1, 17}};
  scene.instances.resize(2);
  scene.instances[0].mesh = 0;
  scene.instances[0].node = 1;
  scene.instances[0].binding = 0;
  scene.instances[1].mesh = 1;
  scene.instances[1].node = 2;
  scene.instances[1].binding = 1;
  return scene;
}

TEST(Scene, NamesASolidByItsNode) {
  Scene scene = nested();
  EXPECT_EQ(scene.solid_name(scene.instances[1]), "pmt");
}

TEST(Scene, NamesASolidByItsMeshWhereItsNodeHasNoName) {
  Scene scene = nested();
  scene.nodes[2].name.clear();
  EXPECT_EQ(scene.solid_name(scene.instances[1]), "pmt_mesh");
  scene.instances[1].node = kNone;
  EXPECT_EQ(scene.solid_name(scene.instances[1]), "pmt_mesh");
}

TEST(Scene, WritesThePathFromTheRoot) {
  const Scene scene = nested();
  EXPECT_EQ(scene.path(scene.instances[0]), "/World/Vessel");
  EXPECT_EQ(scene.path(scene.instances[1]), "/World/Vessel/pmt");
}

TEST(Scene, GivesTheCopyNumberOfTheSolidsNode) {
  const Scene scene = nested();
  EXPECT_EQ(scene.copy_number(scene.instances[0]), std::nullopt);
  EXPECT_EQ(scene.copy_number(scene.instances[1]), 17);
}

TEST(Scene, LooksUpTheMaterialOfAPart) {
  const Scene scene = nested();
  EXPECT_EQ(scene.material(scene.instances[1], 0), 1U);
  EXPECT_EQ(scene.material(scene.instances[1], 1), kNone) << "there is no such part";
}

TEST(Scene, CountsUniqueAndExpanded) {
  Scene scene = nested();
  scene.instances.push_back(scene.instances[1]);
  EXPECT_EQ(scene.unique_triangles(), 2U);
  EXPECT_EQ(scene.unique_vertices(), 6U);
  EXPECT_EQ(scene.expanded_triangles(), 3U);
  EXPECT_EQ(scene.expanded_vertices(), 9U);
}

TEST(SceneBounds, AreEmptyForASceneWithoutInstancesOrVertices) {
  Scene scene;
  EXPECT_TRUE(world_bounds(scene).empty());
  scene.meshes.emplace_back();
  scene.instances.emplace_back();
  EXPECT_TRUE(world_bounds(scene).empty());
  EXPECT_TRUE(mesh_bounds(scene.meshes[0]).empty());
}

TEST(SceneBounds, OfAMeshCountVerticesThatNoTriangleUses) {
  Mesh mesh = triangle("m");
  mesh.vertices.push_back({5, 6, 7});
  EXPECT_EQ(mesh_bounds(mesh).max, Eigen::Vector3d(5, 6, 7));
}

TEST(SceneBounds, OfATurnedMeshAreThoseOfItsVerticesAndNotOfItsTurnedBox) {
  Scene scene;
  // Four points on the axes; their box is twice as large when turned by 45 degrees, but they are not.
  scene.meshes = {{"m", {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}}, {{0, 1, 2}}, {{0, 1}}}};
  scene.instances.resize(1);
  scene.instances[0].transform = EigenTransform(Eigen::AngleAxisd(std::numbers::pi / 4, Eigen::Vector3d::UnitZ()));
  const Bounds box = world_bounds(scene);
  EXPECT_NEAR(box.max.x, std::numbers::sqrt2 / 2, 1e-12);
  EXPECT_NEAR(box.min.y, -std::numbers::sqrt2 / 2, 1e-12);
}

/// The oracle: every vertex of every instance.
Bounds brute_force(const Scene& scene) {
  Bounds box;
  for (const Instance& instance : scene.instances)
    for (const Float3& v : scene.meshes[instance.mesh].vertices)
      box.add(Eigen::Vector3d(to_eigen(instance.transform) * Eigen::Vector3d(v.x, v.y, v.z)));
  return box;
}

TEST(SceneBounds, AreExactWhateverIsCulled) {
  for (unsigned seed = 0; seed != 200; ++seed) {
    std::mt19937 random(seed);
    const auto uniform = [&](double low, double high) {
      return std::uniform_real_distribution<double>(low, high)(random);
    };
    Scene scene;
    for (int m = 0; m != 3; ++m) {
      Mesh mesh;
      // Boxes too: their corners are vertices, so the culling box of an unturned instance has no slack at all.
      const int count = m == 0 ? 8 : 20;
      for (int i = 0; i != count; ++i)
        mesh.vertices.push_back(m == 0 ? Float3{i & 1 ? 0.1F : -0.3F, i & 2 ? 0.7F : 0.2F, i & 4 ? 1.1F : -0.9F}
                                       : Float3{float(uniform(-1, 1)), float(uniform(-1, 1)), float(uniform(-1, 1))});
      scene.meshes.push_back(std::move(mesh));
    }
    for (int i = 0; i != 60; ++i) {
      Instance instance;
      instance.mesh = static_cast<std::uint32_t>(random() % 3);
      EigenTransform transform = EigenTransform::Identity();
      transform.translate(Eigen::Vector3d(uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)) * 0.01 +
                          Eigen::Vector3d(2.4e6, 7, 0));
      if (i % 2 != 0) transform.rotate(Eigen::AngleAxisd(uniform(0, 6.3), Eigen::Vector3d::Random().normalized()));
      transform.scale(Eigen::Vector3d(uniform(-2, 2), 1, uniform(0.5, 1)));
      instance.transform = transform;
      scene.instances.push_back(instance);
    }
    const Bounds expected = brute_force(scene);
    const Bounds found = world_bounds(scene);
    ASSERT_EQ(found.min, expected.min) << "seed " << seed;
    ASSERT_EQ(found.max, expected.max) << "seed " << seed;
  }
}

TEST(Bounds, AreEmptyUntilSomethingIsAdded) {
  Bounds box;
  EXPECT_TRUE(box.empty());
  EXPECT_EQ(box.size(), Double3());
  EXPECT_EQ(box.center(), Double3());
  box.add(Bounds{});
  EXPECT_TRUE(box.empty());
  EXPECT_TRUE(box.contains(Bounds{}));
  box.add(Double3(1, 2, 3));
  EXPECT_FALSE(box.empty());
  EXPECT_EQ(box.size(), Double3());
  EXPECT_EQ(box.center(), Double3(1, 2, 3));
  EXPECT_FALSE(Bounds{}.contains(box));
}

TEST(Bounds, GrowOnEveryAxisAndContainWhatIsInside) {
  Bounds box;
  box.add(Eigen::Vector3d(1, -2, 3));
  box.add(Float3{-1, 2, 5});
  EXPECT_EQ(box.min, Double3(-1, -2, 3));
  EXPECT_EQ(box.max, Double3(1, 2, 5));
  EXPECT_EQ(box.size(), Double3(2, 4, 2));
  EXPECT_EQ(box.center(), Double3(0, 0, 4));
  EXPECT_EQ(box.reach(), 5);
  EXPECT_EQ((Bounds{{-7, 0, 0}, {1, 2, 3}}).reach(), 7);
  EXPECT_TRUE(box.contains(box));
  for (int axis = 0; axis != 3; ++axis) {
    Bounds low = box, high = box, flat = box;
    low.min[axis] -= 0.5;
    high.max[axis] += 0.5;
    flat.max[axis] = flat.min[axis] - 1;
    EXPECT_FALSE(box.contains(low));
    EXPECT_FALSE(box.contains(high));
    EXPECT_TRUE(low.contains(box) && high.contains(box));
    EXPECT_TRUE(flat.empty());
    Bounds both = low;
    both.add(high);
    EXPECT_EQ(both.min, low.min);
    EXPECT_EQ(both.max, high.max);
  }
  // A vertex that is not a number changes nothing.
  Bounds same = box;
  same.add(Double3(std::nan(""), std::nan(""), std::nan("")));
  EXPECT_EQ(same.min, box.min);
  EXPECT_EQ(same.max, box.max);
}

}  // namespace
}  // namespace raylift
