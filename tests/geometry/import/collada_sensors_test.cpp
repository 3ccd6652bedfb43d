// SPDX-License-Identifier: Apache-2.0
// Sensors of G4DAE files: surfaces of materials with an efficiency, and channels.
#include <gmock/gmock.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/optics/surface_between.h>

#include "collada_documents.h"
#include "collada_optics.h"
#include "g4dae_writer.h"

namespace raylift {
namespace {

using test::detector;
using test::expect_same;
using test::sensor_material;
using test::table;
using test::g4dae::Detector;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ColladaSensors : public test::WithDetector {};

TEST_F(ColladaSensors, MakesSensorsOfAMaterialWithEfficiency) {
  const Scene scene = load_detector(sensor_material());
  const Optics& optics = scene.optics;
  EXPECT_THAT(scene.report.warnings, IsEmpty());
  ASSERT_EQ(optics.surfaces.size(), 3U);
  const OpticalSurface& sensor = optics.surfaces[2];
  EXPECT_EQ(sensor.name, scene.materials[3].name);
  EXPECT_EQ(sensor.type, SurfaceType::dielectric_metal);
  EXPECT_EQ(sensor.finish, SurfaceFinish::polished);
  expect_same(sensor.properties, {{table("EFFICIENCY", {1.55, 3.26, 6.2}, {0.0001, 0.24, 0}),
                                   table("REFLECTIVITY", {1.55, 3.26, 6.2}, {0, 0, 0})},
                                  {}});
  const SolidTree tree = solid_tree(scene);
  EXPECT_EQ(surface_between(scene, tree, 2, 3).surface, 2U);
  EXPECT_EQ(surface_between(scene, tree, 1, 4).surface, 0U) << "no other solid gets it";
  // Both cathodes have copy number 3, so they are numbered in their order.
  EXPECT_THAT(optics.channels, ElementsAre(Optics::Channel{3, 0, kNone}, Optics::Channel{5, 1, kNone}));
}

TEST_F(ColladaSensors, ASkinOfTheFileHoldsBeforeAMaterialsEfficiency) {
  Detector d = sensor_material();
  d.skins.push_back({"CathodeSkin", "/dd/Geometry/Wall", "/dd/Geometry/lvCathode"});
  const Scene scene = load_detector(d);
  EXPECT_EQ(scene.optics.surfaces.size(), 2U);
  EXPECT_EQ(scene.optics.surfaces[surface_between(scene, solid_tree(scene), 2, 3).surface].name,
            "__dd__Geometry__Wall");
  EXPECT_THAT(scene.optics.channels, IsEmpty());
}

TEST_F(ColladaSensors, ABorderOfTheFileHoldsBeforeAMaterialsEfficiency) {
  Detector d = sensor_material();
  d.borders = {{"CathodeBorder", "/dd/Geometry/Film", "/dd/Geometry/lvTank#pvSensor:1",
                "/dd/Geometry/lvSensor#pvCathode", 7, 3}};
  const Scene scene = load_detector(d);
  const SolidTree tree = solid_tree(scene);
  EXPECT_EQ(surface_between(scene, tree, 2, 3).rule, SurfaceChoice::Rule::border);
  EXPECT_EQ(surface_between(scene, tree, 4, 5).rule, SurfaceChoice::Rule::skin_of_entered)
      << "the other sensor's cathode";
}

TEST_F(ColladaSensors, MakesNoSensorsOfMaterialsWhereTheOptionSaysSo) {
  LoadOptions options;
  options.sensor_materials = false;
  const Scene scene = load_text(test::g4dae::write(sensor_material()), options);
  EXPECT_EQ(scene.optics.surfaces.size(), 2U);
  EXPECT_THAT(scene.optics.channels, IsEmpty());
  EXPECT_THAT(scene.report.warnings, ElementsAre(testing::AllOf(HasSubstr("material '__dd__Materials__Bialkali"),
                                                                HasSubstr("EFFICIENCY is not honoured"))));
}

TEST_F(ColladaSensors, AnEfficiencyOfZeroMakesNoSensor) {
  Detector d = sensor_material();
  d.materials[3].properties.tables[0].second = {1.55e-6, 0, 6.2e-6, 0};
  const Scene scene = load_detector(d);
  EXPECT_EQ(scene.optics.surfaces.size(), 2U);
  EXPECT_THAT(scene.optics.channels, IsEmpty());
}

TEST_F(ColladaSensors, SolidsOfASkinWithEfficiencyHaveTheirCopyNumbersAsChannels) {
  Detector d = detector();
  // One cathode each, with copy numbers 21 and 20.
  d.volumes[1].daughters.clear();
  d.volumes[2].daughters.push_back({"/dd/Geometry/pvCathode:1", "/dd/Geometry/lvCathode", 21, {0, 20, 0}});
  d.volumes[2].daughters.push_back({"/dd/Geometry/pvCathode:2", "/dd/Geometry/lvCathode", 20, {0, -20, 0}});
  const Scene scene = load_detector(d);
  EXPECT_THAT(scene.optics.channels, ElementsAre(Optics::Channel{4, 21, kNone}, Optics::Channel{5, 20, kNone}));
}

TEST_F(ColladaSensors, SolidsThatABorderWithEfficiencyLeadsIntoDetect) {
  Detector d = detector();
  d.skins.erase(d.skins.begin());
  d.borders.push_back({"CathodeBorder", "/dd/Geometry/Cathode", "/dd/Geometry/lvTank#pvSensor:2",
                       "/dd/Geometry/lvSensor#pvCathode", 9, 3});
  const Scene scene = load_detector(d);
  EXPECT_THAT(scene.optics.channels, ElementsAre(Optics::Channel{3, 0, kNone}, Optics::Channel{5, 1, kNone}));
}

TEST_F(ColladaSensors, WarnsOfAMaterialWithoutAnIndexThatLightReaches) {
  // The tank's skin is metal, and no light reaches the rock around it.
  EXPECT_THAT(load_detector(detector()).report.warnings, IsEmpty());
  const auto warnings = [&](const auto& change) {
    Detector d = detector();
    change(d);
    return load_detector(d).report.warnings;
  };
  const auto rock = ElementsAre(
      testing::AllOf(HasSubstr("material '__dd__Materials__Rock"), HasSubstr("has no RINDEX"), HasSubstr("pvTank")));
  EXPECT_THAT(warnings([](Detector& d) { d.skins.pop_back(), d.surfaces.erase(d.surfaces.begin()); }), rock);
  EXPECT_THAT(warnings([](Detector& d) { d.surfaces[0].type = 1; }), rock);
  EXPECT_THAT(warnings([](Detector& d) {
                d.surfaces[0].properties.tables.push_back({"TRANSMITTANCE", {1e-6, 0, 2e-6, 0.1}});
              }),
              rock);
  EXPECT_THAT(warnings([](Detector& d) { d.surfaces[0].type = 1, d.surfaces[0].finish = 4; }), IsEmpty()) << "painted";
}

TEST_F(ColladaSensors, ASceneWithoutOpticsHasNone) {
  const Scene scene = load_text(test::cube_document());
  EXPECT_TRUE(scene.optics.empty());
  EXPECT_TRUE(scene.optics.skins.empty());
}

}  // namespace
}  // namespace raylift
