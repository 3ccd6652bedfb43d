// SPDX-License-Identifier: Apache-2.0
#include "model/solids/boundaries.h"

#include <gtest/gtest.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/optics/surface_between.h>

#include <algorithm>

#include "geometry/src/scene/names.h"
#include "support/paths.h"
#include "support/tank_scene.h"

namespace raylift::viewer {
namespace {

/// "TankSurface, skin surface between Water and StainlessSteel: 1" of those that have all words.
std::vector<std::string> lines(const Scene& scene, const char* words) {
  std::vector<std::string> all;
  for (const Boundary& one : boundaries(scene))
    if (fits(WordQuery(words), scene, one))
      all.push_back(surface_text(scene, one) + " " + materials_text(scene, one) + ": " +
                    std::to_string(one.solids.size()));
  return all;
}

using Lines = std::vector<std::string>;

TEST(Boundaries, SayWhichSurfaceIsBetweenTwoMaterials) {
  const Scene scene = load(test::data("detector.dae"));
  EXPECT_EQ(lines(scene, "vacuum bialkali"), Lines{"CathodeSurface, skin surface between Vacuum and Bialkali: 300"});
  EXPECT_EQ(lines(scene, "glass vacuum"), Lines{"no surface between Vacuum and Glass: 300"});
  // A border surface is that of one direction; the skin of the mother holds for the other.
  EXPECT_EQ(lines(scene, "mineraloil steel"),
            (Lines{"ReflectorSurface, border surface from MineralOil into StainlessSteel: 1",
                   "TankSurface, skin surface from StainlessSteel into MineralOil: 1"}));
  EXPECT_EQ(lines(scene, "border"), Lines{"ReflectorSurface, border surface from MineralOil into StainlessSteel: 1"});
  EXPECT_TRUE(lines(scene, "acrylic bialkali").empty()) << "they don't touch";
}

TEST(Boundaries, CountEachSolidWithAMotherInEachDirectionOnce) {
  const Scene scene = load(test::data("detector.dae"));
  const SolidTree tree = solid_tree(scene);
  std::uint64_t expected = 0, triangles = 0, ways = 0, counted = 0;
  for (std::uint32_t solid = 0; solid != tree.size(); ++solid)
    if (tree.mother[solid] != kNone) {
      expected += 2;
      triangles += 2 * scene.meshes[scene.instances[solid].mesh].triangles.size();
    }
  for (const Boundary& one : boundaries(scene)) {
    const unsigned directions = one.both_ways ? 2 : 1;
    ways += directions * one.solids.size();
    counted += directions * one.triangles;
    EXPECT_TRUE(std::is_sorted(one.solids.begin(), one.solids.end()));
  }
  EXPECT_EQ(ways, expected);
  EXPECT_EQ(counted, triangles);
}

TEST(Boundaries, KnowABorderBetweenSiblings) {
  Scene scene = test::tank_scene();
  for (Instance& one : scene.instances)
    one.outside = one.node == 0 ? kNone : scene.instances[one.node == 1 ? 0 : 1].binding;
  test::add_foil_between_sensors(scene);
  const std::vector<Boundary> all = boundaries(scene);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(surface_text(scene, all[0]), "Foil, border surface") << "surfaces come first";
  EXPECT_EQ(all[0].solids, (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(all[1].solids.size(), 2U) << "then those of most solids";
  EXPECT_EQ(surface_text(scene, all[1]), "no surface");
}

}  // namespace
}  // namespace raylift::viewer
