// SPDX-License-Identifier: Apache-2.0
// G4DAE's optics: what the exporter writes comes back, joined by name.
#include <gmock/gmock.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/optics/surface_between.h>

#include <algorithm>

#include "collada_optics.h"
#include "g4dae_writer.h"
#include "support/expect_error.h"

namespace raylift {
namespace {

using test::detector;
using test::expect_same;
using test::replaced;
using test::sensor_material;
using test::table;
using test::g4dae::Detector;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ColladaOptics : public test::WithDetector {};

/// All that the detector above holds.
void expect_detector(const Scene& scene) {
  const Optics& optics = scene.optics;
  ASSERT_EQ(optics.materials.size(), 4U);
  ASSERT_TRUE(scene.materials[1].name.starts_with("__dd__Materials__Water"));
  expect_same(optics.materials[0], {});
  expect_same(
      optics.materials[1],
      {{table("ABSLENGTH", {1.55, 6.2}, {490, 800}), table("RINDEX", {1.55, 2.48, 6.2}, {1.329, 1.336, 1.39})}, {}});
  expect_same(optics.materials[2],
              {{table("FASTCOMPONENT", {2.48, 2.95, 3.26}, {0, 1, 0}), table("RINDEX", {1.55, 6.2}, {1.475, 1.8})},
               {{"FASTTIMECONSTANT", 3.64}, {"SCINTILLATIONYIELD", 11522}, {"YIELDRATIO", 0.86}}});

  ASSERT_EQ(optics.surfaces.size(), 3U);
  const OpticalSurface& wall = optics.surfaces[0];
  EXPECT_EQ(wall.name, "__dd__Geometry__Wall");
  EXPECT_EQ(wall.model, SurfaceModel::unified);
  EXPECT_EQ(wall.finish, SurfaceFinish::ground);
  EXPECT_EQ(wall.type, SurfaceType::dielectric_metal);
  EXPECT_EQ(wall.value, 0.2);
  expect_same(wall.properties, {{table("REFLECTIVITY", {1.55, 6.2}, {0.5, 0.25})}, {}});
  EXPECT_EQ(optics.surfaces[1].model, SurfaceModel::glisur);
  EXPECT_EQ(optics.surfaces[2].type, SurfaceType::dielectric_dielectric);
  EXPECT_TRUE(optics.surfaces[2].properties.empty());

  ASSERT_EQ(optics.assignments.size(), 3U);
  const SurfaceAssignment& border = optics.assignments[2];
  EXPECT_EQ(border.kind, SurfaceAssignment::Kind::border);
  EXPECT_EQ(border.name, "__dd__Geometry__FilmBorder");
  EXPECT_EQ(border.surface, 2U);
  EXPECT_TRUE(border.from.solid.starts_with("__dd__Geometry__pvTank")) << border.from.solid;
  EXPECT_TRUE(border.to.solid.starts_with("__dd__Geometry__lvTank--pvSensor..1")) << border.to.solid;
  EXPECT_EQ(border.from.copy_number, 1000);
  EXPECT_EQ(border.to.copy_number, 7);
  EXPECT_EQ(optics.assignments[0].surface, 1U);
  EXPECT_EQ(optics.assignments[1].surface, 0U);

  // Solids: world, tank, sensor, cathode, sensor, cathode.
  ASSERT_EQ(scene.instances.size(), 6U);
  EXPECT_THAT(optics.skins, ElementsAre(kNone, 1U, kNone, 0U, kNone, 0U));
  EXPECT_THAT(optics.borders, ElementsAre(Optics::Border{1, 2, 2}));
}

TEST_F(ColladaOptics, ReadsWhatTheExporterWrites) {
  for (const bool attributes : {false, true})
    for (const int digits : {5, 7, 12, 16}) {
      Detector d = detector();
      d.values_in_attributes = attributes;
      d.pointer_digits = digits;
      SCOPED_TRACE((attributes ? "values in attributes, " : "values as text, ") + std::to_string(digits));
      const Scene scene = load_detector(d);
      expect_detector(scene);
      EXPECT_THAT(scene.report.warnings, IsEmpty());
      EXPECT_EQ(scene.unit_mm, 1);
      EXPECT_EQ(scene.unit_from, Scene::Provenance::convention);
    }
}

TEST_F(ColladaOptics, ReadsNamesWithoutPointers) {
  Detector d = detector();
  d.pointers = false;
  expect_detector(load_detector(d));
}

TEST_F(ColladaOptics, GoesThroughTheImportProcess) {
  const std::string text = test::g4dae::write(detector());
  LoadOptions options;
  const Scene direct = load_text(text, options);
  options.isolate = true;
  const Scene isolated = load_text(text, options);
  EXPECT_EQ(isolated.optics, direct.optics);
  EXPECT_FALSE(direct.optics.channels.empty());
  options.sensor_materials = false;
  EXPECT_EQ(load_text(test::g4dae::write(sensor_material()), options).optics.surfaces.size(), 2U)
      << "the option gets there";
  // The process says what is wrong with a table; the scene that it sends has none that is.
  const std::string wrong = replaced(text, "1.55e-06 490 6.2e-06 800", "6.2e-06 490 1.55e-06 800");
  const Error error = test::expect_error(ErrorKind::malformed, [&] { (void)load_text(wrong, options); });
  EXPECT_THAT(error.what(), HasSubstr("ABSLENGTH energy 1.55 eV is not above the one before"));
}

// Elements in another order, and references in the spelling that Geant4 has: the result is the same.
TEST_F(ColladaOptics, JoinsByNameAndNotByPosition) {
  Detector d = detector();
  std::reverse(d.materials.begin(), d.materials.end());
  std::reverse(d.surfaces.begin(), d.surfaces.end());
  std::swap(d.volumes[0], d.volumes[1]);
  const Scene scene = load_detector(d);
  for (std::size_t i = 0; i != scene.materials.size(); ++i) {
    const OpticalTable* index = scene.optics.materials[i].table("RINDEX");
    const std::string& name = scene.materials[i].name;
    const double want = name.find("Water") != std::string::npos      ? 1.329
                        : name.find("Bialkali") != std::string::npos ? 2.9
                                                                     : 1.475;
    EXPECT_EQ(index == nullptr, name.find("Rock") != std::string::npos) << name;
    if (index != nullptr) {
      EXPECT_EQ(index->values.front(), want) << name;
    }
  }
  const auto surface_of = [&](std::size_t assignment) {
    return scene.optics.surfaces[scene.optics.assignments[assignment].surface].name;
  };
  EXPECT_EQ(surface_of(0), "__dd__Geometry__Cathode");
  EXPECT_EQ(surface_of(1), "__dd__Geometry__Wall");
  EXPECT_EQ(surface_of(2), "__dd__Geometry__Film");
}

TEST_F(ColladaOptics, JoinsNamesThatAreEncodedInOnePlaceAlone) {
  const std::string text = test::g4dae::write(detector());
  expect_detector(
      load_text(replaced(text, "surfaceproperty=\"__dd__Geometry__Wall\"", "surfaceproperty=\"/dd/Geometry/Wall\"")));
  std::string raw = replaced(text, "<volumeref ref=\"__dd__Geometry__lvTank", "<volumeref ref=\"/dd/Geometry/lvTank");
  raw = replaced(raw, "<physvolref ref=\"__dd__Geometry__lvTank--pvSensor..1",
                 "<physvolref ref=\"/dd/Geometry/lvTank#pvSensor:1");
  expect_detector(load_text(raw));
}

TEST_F(ColladaOptics, KeepsTheOrderOfPropertiesAndTablesApart) {
  // The property stands before its table, and another one's table between them.
  const Scene scene =
      load_text(replaced(test::g4dae::write(detector()), "<matrix coldim=\"2\" name=\"ABSLENGTH",
                         "<property name=\"RAYLEIGH\" ref=\"other\"/><matrix coldim=\"2\" "
                         "name=\"other\">2e-06 5 3e-06 6</matrix><matrix coldim=\"2\" name=\"ABSLENGTH"));
  const OpticalTable* rayleigh = scene.optics.materials[1].table("RAYLEIGH");
  ASSERT_NE(rayleigh, nullptr);
  EXPECT_THAT(rayleigh->values, ElementsAre(5, 6));
}

// Daya Bay's files write every constant as a table from -1 to 1 MeV.
TEST_F(ColladaOptics, TakesATableOfOneValueForTheConstantThatItIs) {
  Detector d = detector();
  d.materials[2].properties.tables.push_back({"SLOWTIMECONSTANT", {-1, 12.2, 1, 12.2}});
  d.materials[2].properties.tables.push_back({"RESOLUTIONSCALE", {1.55e-6, 1, 6.2e-6, 1}});
  d.materials[2].properties.tables.push_back({"AlphaYIELDRATIO", {-1, 0.7, 1, 0.7}});
  d.materials[2].properties.tables.push_back({"OWNTABLE", {1.55e-6, 0.7, 6.2e-6, 0.7}});
  const Scene scene = load_detector(d);
  const OpticalProperties& read = scene.optics.materials[2];
  EXPECT_EQ(read.constant("SLOWTIMECONSTANT"), 12.2);
  EXPECT_EQ(read.constant("RESOLUTIONSCALE"), 1);
  EXPECT_EQ(read.constant("AlphaYIELDRATIO"), 0.7);
  EXPECT_NE(read.table("OWNTABLE"), nullptr) << "the file does not say that it is a constant";
  EXPECT_THAT(scene.report.warnings,
              ElementsAre(HasSubstr("OWNTABLE, AlphaYIELDRATIO are not honoured: the key is not known")));
}

TEST_F(ColladaOptics, TakesAMatrixOfOneColumnForAConstant) {
  const Scene scene = load_replaced("<constant name=\"YIELDRATIO\" value=\"0.86\"/>",
                                    "<matrix coldim=\"1\" name=\"YIELDRATIO\">0.86</matrix>");
  EXPECT_EQ(scene.optics.materials[2].constant("YIELDRATIO"), 0.86);
}

TEST_F(ColladaOptics, LeavesOutAnIndexOfZeroThatSurfacesHaveAsAPlaceholder) {
  Detector d = detector();
  d.surfaces[0].properties.tables.push_back({"RINDEX", {1.5e-6, 0, 6.5e-6, 0}});
  const Scene scene = load_detector(d);
  EXPECT_EQ(scene.optics.surfaces[0].properties.tables.size(), 1U);
  EXPECT_THAT(scene.report.warnings,
              ElementsAre("surface '__dd__Geometry__Wall': RINDEX is 0 at all energies, and is left out"));
}

TEST_F(ColladaOptics, WarnsOfWhatRefersToNothing) {
  const auto warnings = [&](const std::string& from, const std::string& to) {
    return load_replaced(from, to).report.warnings;
  };
  EXPECT_THAT(warnings("<property name=\"YIELDRATIO\" ref=\"YIELDRATIO\"/>",
                       "<property name=\"YIELDRATIO\" ref=\"gone0x12\"/>"),
              ElementsAre(testing::AllOf(HasSubstr("material '__dd__Materials__Scintillator"), HasSubstr("YIELDRATIO"),
                                         HasSubstr("'gone0x12', which is not there")),
                          testing::AllOf(HasSubstr("no property refers to <constant name='YIELDRATIO'>"),
                                         HasSubstr("left out"))));
  EXPECT_THAT(
      warnings("</opticalsurface>", "<matrix coldim=\"2\" name=\"M\">1 2</matrix></opticalsurface>"),
      ElementsAre(testing::AllOf(HasSubstr("surface '__dd__Geometry__Wall'"),
                                 HasSubstr("<matrix name='M'> in <opticalsurface name='__dd__Geometry__Wall'>"))));
  EXPECT_THAT(warnings("<bsurf name=\"", "<bsurf name=\"not_"),
              ElementsAre(HasSubstr("<bsurf name='not___dd__Geometry__FilmBorder'> belongs to no <bordersurface>")));
}

// The exporter writes all surfaces, whatever part of the tree it exports.
TEST_F(ColladaOptics, WarnsOfSurfacesOfVolumesThatAreNotExported) {
  Detector d = detector();
  d.volumes.push_back({"/dd/Geometry/lvOther", "/dd/Materials/Rock", 1, {}});
  d.skins.push_back({"OtherSkin", "/dd/Geometry/Wall", "/dd/Geometry/lvOther"});
  d.skins.push_back({"GoneSkin", "/dd/Geometry/Wall", "/dd/Geometry/lvGone"});
  d.borders.push_back({"GoneBorder", "/dd/Geometry/Wall", "/dd/Geometry/pvGone", "/dd/Geometry/pvTank", 1, 1000});
  std::swap(d.volumes[3], d.volumes[4]);  // the world is the last one
  const Scene scene = load_detector(d);
  expect_same(scene.optics.surfaces[0].properties, {{table("REFLECTIVITY", {1.55, 6.2}, {0.5, 0.25})}, {}});
  EXPECT_THAT(scene.report.warnings,
              ElementsAre(testing::AllOf(HasSubstr("<skinsurface name='GoneSkin'>"), HasSubstr("lvGone"),
                                         HasSubstr("left out")),
                          testing::AllOf(HasSubstr("<bordersurface name='GoneBorder'>"), HasSubstr("pvGone")),
                          HasSubstr("the skin surface 'OtherSkin' holds nowhere")));
}

TEST_F(ColladaOptics, APointerThatDiffersIsAnotherVolume) {
  const std::string text = test::g4dae::write(detector());
  const std::string ref = "<volumeref ref=\"__dd__Geometry__lvTank0x";
  const Scene scene = load_text(replaced(text, ref, ref + "f"));
  EXPECT_THAT(scene.report.warnings, ElementsAre(HasSubstr("<skinsurface name='__dd__Geometry__TankSkin'>"),
                                                 HasSubstr("no skin or border uses"), HasSubstr("has no RINDEX")));
  EXPECT_EQ(scene.optics.skins[1], kNone);
}

TEST_F(ColladaOptics, TheFirstOfTwoSurfacesHoldsAsInGeant4) {
  Detector d = detector();
  d.skins.push_back({"SecondSkin", "/dd/Geometry/Film", "/dd/Geometry/lvTank"});
  d.borders.push_back(d.borders[0]);
  d.borders.back().surface = "/dd/Geometry/Wall";
  d.borders.back().name = "SecondBorder";
  const Scene scene = load_detector(d);
  expect_detector(scene);
  EXPECT_THAT(scene.report.warnings, ElementsAre(testing::AllOf(HasSubstr("<skinsurface name='SecondSkin'>"),
                                                                HasSubstr("has a skin surface already")),
                                                 HasSubstr("<bordersurface name='SecondBorder'>")));
}

TEST_F(ColladaOptics, TwoSurfacesOfOneNameAreOneWhereTheyAreEqual) {
  Detector d = detector();
  d.surfaces.push_back(d.surfaces[0]);
  EXPECT_EQ(load_detector(d).optics.surfaces.size(), 3U);
  d.surfaces.back().value = 0.3;
  const Error error = test::expect_error(ErrorKind::malformed, [&] { (void)load_detector(d); });
  EXPECT_THAT(error.what(), HasSubstr("two optical surfaces are called '__dd__Geometry__Wall'"));
}

// A physical volume is one object, wherever its mother is placed: its border surface holds in each.
TEST_F(ColladaOptics, ABorderHoldsInEveryPlacementOfItsMother) {
  Detector d = detector();
  d.volumes[3].daughters.push_back({"/dd/Geometry/pvTank:2", "/dd/Geometry/lvTank", 1001, {0, 0, 0}});
  d.borders[0] = {
      "CathodeBorder", "/dd/Geometry/Film", "/dd/Geometry/lvTank#pvSensor:1", "/dd/Geometry/lvSensor#pvCathode", 7, 3};
  const Scene scene = load_detector(d);
  std::vector<std::string> paths;
  for (const Optics::Border& border : scene.optics.borders) paths.push_back(scene.path(scene.instances[border.to]));
  ASSERT_EQ(paths.size(), 2U);
  EXPECT_THAT(paths[0], HasSubstr("pvTank0x"));
  EXPECT_THAT(paths[1], HasSubstr("pvTank..2"));
}

// A: border tank -> sensor 1. B: skin of cathodes. C: skin of the tank. By hand, from G4OpBoundaryProcess.
TEST_F(ColladaOptics, HasGeant4sPrecedenceInAWholeFile) {
  const Scene scene = load_detector(detector());
  const SolidTree tree = solid_tree(scene);
  const std::uint32_t world = 0, outside = kNone, tank = 1, first = 2, cathode = 3, second = 4;
  using enum SurfaceChoice::Rule;
  struct Row {
    std::uint32_t from, to;
    SurfaceChoice::Rule rule;
    std::string surface;
  };
  const std::vector<Row> rows{{tank, first, border, "Film"},
                              {first, tank, skin_of_entered, "Wall"},  // the border is one-way, the sensor has no skin
                              {tank, second, skin_of_left, "Wall"},
                              {second, tank, skin_of_entered, "Wall"},
                              {world, tank, skin_of_entered, "Wall"},
                              {tank, world, skin_of_left, "Wall"},
                              {first, cathode, skin_of_entered, "Cathode"},
                              {cathode, first, skin_of_left, "Cathode"},
                              {tank, outside, none, ""}};
  for (const Row& row : rows) {
    const SurfaceChoice choice = surface_between(scene, tree, row.from, row.to);
    EXPECT_EQ(choice.rule, row.rule) << row.from << " to " << row.to;
    if (choice.surface != kNone) {
      EXPECT_EQ(scene.optics.surfaces[choice.surface].name, "__dd__Geometry__" + row.surface);
    }
  }
}

}  // namespace
}  // namespace raylift
