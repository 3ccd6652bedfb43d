// SPDX-License-Identifier: Apache-2.0
// The tree of a scene in two levels: where instances stand in it, and the meshes' trees behind them.
#include <gtest/gtest.h>
#include <raylift/geometry/bvh/scene_bvh.h>
#include <raylift/geometry/checks/check.h>
#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <bit>
#include <random>

#include "support/bvh_walker.h"
#include "support/expect_error.h"
#include "support/triangles_and_rays.h"

namespace raylift {
namespace {

using test::BvhWalker;
using test::ExactBox;
using test::Triangles;

// Checks a scene's tree as a whole: boxes over instances contain what is placed there, exactly; each instance has each
// triangle of its mesh once, in one piece or in several; transforms are those of the scene.
class SceneWalker {
 public:
  SceneWalker(const SceneBvh& bvh, const Scene& scene, const Eigen::Vector3d& origin)
      : bvh_(bvh), scene_(scene), origin_(origin), reached_(bvh.instance_nodes, 0) {
    std::uint32_t triangles = 0;
    for (const Mesh& mesh : scene.meshes) {
      meshes_.push_back({mesh.vertices, mesh.triangles});
      first_triangle_.push_back(triangles);
      triangles += static_cast<std::uint32_t>(mesh.triangles.size());
    }
    for (const Instance& instance : scene.instances) walkers_.push_back(walker(instance.mesh));
  }

  void check() {
    (void)walk(0, 1);
    for (std::size_t i = 0; i < reached_.size(); ++i) ASSERT_EQ(reached_[i], 1) << "node " << i;
    for (std::size_t i = 0; i < walkers_.size(); ++i) {
      SCOPED_TRACE("instance " + std::to_string(i));
      if (to_eigen(scene_.instances[i].transform).linear().determinant() != 0)
        walkers_[i].expect_all_seen();
      else
        EXPECT_EQ(walkers_[i].pairs(), 0u);
    }
    // All trees, from their roots, have all nodes and pairs.
    std::size_t nodes = bvh_.instance_room, pairs = 0;
    for (std::uint32_t m = 0; m < meshes_.size(); ++m) {
      if (bvh_.roots[m] == kNone) {
        EXPECT_TRUE(meshes_[m].triangles.empty());
        continue;
      }
      BvhWalker whole = walker(m);
      (void)whole.walk(bvh_.roots[m], 1);
      whole.expect_all_seen();
      pairs += whole.pairs();
      for (const int n : whole.reached()) nodes += static_cast<std::size_t>(n);
    }
    EXPECT_EQ(nodes, bvh_.nodes.size());
    EXPECT_EQ(pairs, bvh_.pairs.size());
  }
  [[nodiscard]] std::size_t pieces() const { return pieces_; }
  /// Instances that rays can hit.
  [[nodiscard]] std::size_t placed() const {
    return static_cast<std::size_t>(
        std::count_if(walkers_.begin(), walkers_.end(), [](const BvhWalker& walker) { return walker.pairs() != 0; }));
  }

 private:
  [[nodiscard]] BvhWalker walker(std::uint32_t mesh) const {
    return {bvh_.view(), meshes_[mesh], first_triangle_[mesh]};
  }

  // Returns the box, in the world, of what is below a node over instances.
  ExactBox walk(std::uint32_t index, std::size_t level) {
    ExactBox whole;
    if (index >= bvh_.instance_nodes || reached_[index]++ != 0 || level > kBvhMaxDepth) {
      ADD_FAILURE() << "node " << index << " at level " << level << " is out of range or reached twice";
      return whole;
    }
    const bvh_detail::BvhNode& node = bvh_.nodes[index];
    const auto placed = std::bit_cast<bvh_detail::InstanceNode>(node);
    if (placed.zero == 0) return place(placed);
    EXPECT_EQ(node.pairs, 0u);
    std::uint32_t child = node.first_child;
    for (int s = 0; s < 8; ++s) {
      if (node.is_empty(s)) continue;
      SCOPED_TRACE(index);
      const ExactBox box = walk(child++, level + 1);
      test::expect_slot_holds(node, s, box);
      whole.add(box);
    }
    return whole;
  }

  ExactBox place(const bvh_detail::InstanceNode& placed) {
    ExactBox box;
    ++pieces_;
    if (placed.instance >= scene_.instances.size()) {
      ADD_FAILURE() << "instance " << placed.instance;
      return box;
    }
    EigenTransform to_world = to_eigen(scene_.instances[placed.instance].transform);
    to_world.translation() -= origin_;
    const EigenTransform to_mesh = to_world.inverse();
    for (int k = 0; k < 12; ++k) {
      EXPECT_EQ(placed.to_mesh.m[k], static_cast<float>(to_mesh(k / 4, k % 4))) << "instance " << placed.instance;
    }
    BvhWalker& walker = walkers_[placed.instance];
    (void)walker.walk(placed.root, 1);
    for (const Float3& p : walker.take_points()) {
      const Eigen::Vector3d at = to_world * Eigen::Vector3d(p.x, p.y, p.z);
      box.add(at.x(), at.y(), at.z());
    }
    return box;
  }

  const SceneBvh& bvh_;
  const Scene& scene_;
  const Eigen::Vector3d origin_;
  std::vector<Triangles> meshes_;
  std::vector<std::uint32_t> first_triangle_;
  std::vector<BvhWalker> walkers_;
  std::vector<int> reached_;
  std::size_t pieces_ = 0;
};

Scene some_scene(std::uint32_t instances, std::uint32_t seed) {
  Scene scene;
  for (const Triangles& mesh : {test::bumpy_sphere(20, 100), test::soup(1, 50, seed), Triangles{},
                                test::bumpy_sphere(6, 30), test::soup(300, 40, seed)})
    scene.meshes.push_back({"mesh", mesh.vertices, mesh.triangles, {}});
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> unit(-1, 1);
  const auto vector = [&] {
    const double x = unit(random), y = unit(random), z = unit(random);
    return Eigen::Vector3d(x, y, z);
  };
  for (std::uint32_t i = 0; i != instances; ++i) {
    Instance instance;
    instance.mesh = i % 5;
    EigenTransform transform = EigenTransform::Identity();
    transform.translate(Eigen::Vector3d(Eigen::Vector3d(5000, 0, -2000) + 1000 * vector()));
    transform.rotate(Eigen::AngleAxisd(3 * unit(random), vector().normalized()));
    if (i % 3 == 1) transform.scale(Eigen::Vector3d(1, -2, 0.1));
    if (i % 16 == 7) transform.scale(Eigen::Vector3d(1, 0, 1));  // has no inverse
    if (i == 0) transform.scale(20);                             // large: taken to pieces
    instance.transform = transform;
    scene.instances.push_back(instance);
  }
  return scene;
}

TEST(SceneBvh, HasEachInstanceWithAllItsTriangles) {
  for (const std::uint32_t instances : {1u, 3u, 40u, 400u}) {
    const Scene scene = some_scene(instances, instances);
    for (const Eigen::Vector3d& origin : {Eigen::Vector3d(0, 0, 0), Eigen::Vector3d(5000, 10, -2000)}) {
      const SceneBvh bvh = build_bvh(scene, origin);
      SceneWalker walker(bvh, scene, origin);
      walker.check();
      EXPECT_EQ(walker.pieces() > walker.placed(), instances > 1);  // the large one is taken to pieces
    }
  }
}

// What is built at the same time must not go on with half of its arrays.
TEST(SceneBvh, AMeshThatFailsLeavesTheOthersInPeace) {
  Scene scene;
  const Triangles sphere = test::bumpy_sphere(40);
  for (std::uint32_t m = 0; m != 16; ++m) {
    scene.meshes.push_back({"mesh " + std::to_string(m),
                            sphere.vertices,
                            sphere.triangles,
                            {{0, static_cast<std::uint32_t>(sphere.triangles.size())}}});
    scene.instances.push_back({m, 0, 0, kNone, Transform::Identity()});
  }
  for (const std::size_t m : {13, 6, 9}) scene.meshes[m].triangles.back().y = 1U << 20;
  for (int round = 0; round != 30; ++round) {
    EXPECT_EQ(
        test::expect_error(ErrorKind::malformed, [&] { (void)build_bvh(scene, Eigen::Vector3d::Zero()); }).element(),
        "mesh 'mesh 6'");
    const Error error = test::expect_error(ErrorKind::malformed, [&] { (void)check(scene); });
    EXPECT_EQ(error.element().find("mesh 'mesh 6'"), 0U) << error.what();
  }
}

}  // namespace
}  // namespace raylift
