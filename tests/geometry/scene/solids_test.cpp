// SPDX-License-Identifier: Apache-2.0
// The tree of solids follows the tree of nodes.
#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/scene/solids.h>

#include <gtest/gtest.h>

#include "support/paths.h"

namespace raylift {
namespace {

Instance at_node(std::uint32_t node) {
  Instance instance;
  instance.node = node;
  return instance;
}

TEST(SolidTree, FollowsTheNodes) {
  Scene scene;
  //  0 world (solid 1) - 1 group (no solid) - 2 box (solids 2 and 4) - 3 core (solid 0);   4 apart (solid 3)
  scene.nodes = {{"world", kNone, {}}, {"group", 0, {}}, {"box", 1, {}}, {"core", 2, {}}, {"apart", kNone, {}}};
  scene.instances = {at_node(3), at_node(0), at_node(2), at_node(4), at_node(2), at_node(kNone)};
  const SolidTree tree = solid_tree(scene);
  EXPECT_EQ(tree.mother, (std::vector<std::uint32_t>{2, kNone, 1, kNone, 1, kNone}));
  EXPECT_EQ(tree.depth, (std::vector<std::uint32_t>{2, 0, 1, 0, 1, 0}));
  const auto of_world = tree.daughters_of(1);
  EXPECT_EQ(std::vector<std::uint32_t>(of_world.begin(), of_world.end()), (std::vector<std::uint32_t>{2, 4}));
  EXPECT_EQ(tree.daughters_of(2).size(), 1U);
  EXPECT_TRUE(tree.daughters_of(4).empty());
}

TEST(SolidTree, OfADetectorNestsItsSensors) {
  const Scene scene = load(test::data("detector.dae"));
  const SolidTree tree = solid_tree(scene);
  std::size_t cathodes = 0, tops = 0;
  for (std::uint32_t i = 0; i != tree.size(); ++i) {
    tops += tree.mother[i] == kNone ? 1 : 0;
    const auto name = [&](std::uint32_t solid) { return scene.solid_name(scene.instances[solid]); };
    if (name(i).find("Photocathode") != 0) continue;
    ++cathodes;
    EXPECT_EQ(name(tree.mother[i]).find("SensorVacuum"), 0U);
    EXPECT_EQ(name(tree.mother[tree.mother[i]]).find("Sensor"), 0U);
  }
  EXPECT_EQ(cathodes, 300U);
  EXPECT_EQ(tops, 1U);
}

TEST(SolidTree, RefusesNodesThatStandBeforeTheirParents) {
  Scene scene;
  scene.nodes = {{"a", 1, {}}, {"b", kNone, {}}};
  EXPECT_THROW((void)solid_tree(scene), Error);
  scene.nodes = {{"a", kNone, {}}};
  scene.instances = {at_node(7)};
  EXPECT_THROW((void)solid_tree(scene), Error);
}

}  // namespace
}  // namespace raylift
