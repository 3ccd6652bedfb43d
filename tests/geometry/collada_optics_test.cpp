// SPDX-License-Identifier: Apache-2.0
// G4DAE's optics: what the exporter writes comes back, joined by name; what is wrong is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/optics/surface_between.h>

#include <algorithm>

#include "expect_error.h"
#include "g4dae_writer.h"
#include "small_scenes.h"
#include "support/paths.h"

namespace raylift {
namespace {

using test::g4dae::Detector;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// World > tank > two sensors, each with a cathode. Numbers of few digits: the exporter writes six.
Detector detector() {
  Detector d;
  d.materials = {
      {"/dd/Materials/Rock", {}},
      {"/dd/Materials/Water",
       {{{"ABSLENGTH", {1.55e-6, 490, 6.2e-6, 800}}, {"RINDEX", {1.55e-6, 1.329, 2.48e-6, 1.336, 6.2e-6, 1.39}}}, {}}},
      {"/dd/Materials/Scintillator",
       {{{"FASTCOMPONENT", {2.48e-6, 0, 2.95e-6, 1, 3.26e-6, 0}}, {"RINDEX", {1.55e-6, 1.475, 6.2e-6, 1.8}}},
        {{"FASTTIMECONSTANT", 3.64}, {"SCINTILLATIONYIELD", 11522}, {"YIELDRATIO", 0.86}}}},
      {"/dd/Materials/Bialkali", {{{"RINDEX", {1.55e-6, 2.9, 6.2e-6, 1.5}}}, {}}}};
  d.volumes = {{"/dd/Geometry/lvCathode", "/dd/Materials/Bialkali", 1, {}},
               {"/dd/Geometry/lvSensor",
                "/dd/Materials/Scintillator",
                5,
                {{"/dd/Geometry/lvSensor#pvCathode", "/dd/Geometry/lvCathode", 3}}},
               {"/dd/Geometry/lvTank",
                "/dd/Materials/Water",
                50,
                {{"/dd/Geometry/lvTank#pvSensor:1", "/dd/Geometry/lvSensor", 7, {-20, 0, 0}},
                 {"/dd/Geometry/lvTank#pvSensor:2", "/dd/Geometry/lvSensor", 9, {20, 0, 0}}}},
               {"World", "/dd/Materials/Rock", 100, {{"/dd/Geometry/pvTank", "/dd/Geometry/lvTank", 1000}}}};
  d.surfaces = {
      {"/dd/Geometry/Wall", 3, 1, 0, 0.2, {{{"REFLECTIVITY", {1.55e-6, 0.5, 6.2e-6, 0.25}}}, {}}},
      {"/dd/Geometry/Cathode",
       0,
       0,
       0,
       1,
       {{{"EFFICIENCY", {1.55e-6, 0, 3.26e-6, 0.25, 6.2e-6, 0}}, {"REFLECTIVITY", {1.55e-6, 0, 6.2e-6, 0}}}, {}}},
      {"/dd/Geometry/Film", 0, 1, 1, 0, {}}};
  d.skins = {{"/dd/Geometry/CathodeSkin", "/dd/Geometry/Cathode", "/dd/Geometry/lvCathode"},
             {"/dd/Geometry/TankSkin", "/dd/Geometry/Wall", "/dd/Geometry/lvTank"}};
  d.borders = {{"/dd/Geometry/FilmBorder", "/dd/Geometry/Film", "/dd/Geometry/pvTank", "/dd/Geometry/lvTank#pvSensor:1",
                1000, 7}};
  return d;
}

/// The detector with EFFICIENCY on the cathodes' material, as Daya Bay's files have it.
Detector sensor_material() {
  Detector d = detector();
  d.materials[3].properties.tables.insert(d.materials[3].properties.tables.begin(),
                                          {"EFFICIENCY", {1.55e-6, 0.0001, 3.26e-6, 0.24, 6.2e-6, 0}});
  d.skins.erase(d.skins.begin());
  d.surfaces.erase(d.surfaces.begin() + 1);
  return d;
}

OpticalTable table(const std::string& key, std::vector<double> at, std::vector<double> values) {
  return {key, SpectralAxis::energy_ev, std::move(at), std::move(values)};
}

/// Equal but for the last digits of the energies, which are converted.
void expect_same(const OpticalProperties& a, const OpticalProperties& b) {
  EXPECT_EQ(a.constants, b.constants);
  ASSERT_EQ(a.tables.size(), b.tables.size());
  for (std::size_t i = 0; i != a.tables.size(); ++i) {
    EXPECT_EQ(a.tables[i].key, b.tables[i].key);
    EXPECT_EQ(a.tables[i].axis, b.tables[i].axis);
    EXPECT_THAT(a.tables[i].at, testing::Pointwise(testing::DoubleEq(), b.tables[i].at));
    EXPECT_EQ(a.tables[i].values, b.tables[i].values);
  }
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  if (at == std::string::npos) ADD_FAILURE() << "no '" << from << "' in the document";
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

class ColladaOptics : public testing::Test {
 protected:
  Scene load_text(const std::string& text, const LoadOptions& options = {}) {
    return load(folder_.write("scene.dae", text), options);
  }
  Scene load_detector(const Detector& detector) { return load_text(test::g4dae::write(detector)); }
  Scene load_replaced(const std::string& from, const std::string& to) {
    return load_text(replaced(test::g4dae::write(detector()), from, to));
  }
  static std::uint32_t solid(const Scene& scene, const std::string& path) {
    for (std::uint32_t i = 0; i != scene.instances.size(); ++i) {
      std::string names = scene.path(scene.instances[i]);
      if (names.ends_with(path)) return i;
    }
    ADD_FAILURE() << "no solid " << path;
    return 0;
  }
  test::TemporaryFolder folder_;
};

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
  EXPECT_THAT(optics.borders, ElementsAre(SolidBorder{1, 2, 2}));
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
      EXPECT_EQ(scene.unit_from, Provenance::convention);
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
  EXPECT_NE(read.table("OWNTABLE"), nullptr) << "nobody says that it is a constant";
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
  for (const SolidBorder& border : scene.optics.borders) paths.push_back(scene.path(scene.instances[border.to]));
  ASSERT_EQ(paths.size(), 2U);
  EXPECT_THAT(paths[0], HasSubstr("pvTank0x"));
  EXPECT_THAT(paths[1], HasSubstr("pvTank..2"));
}

// A: border tank -> sensor 1. B: skin of cathodes. C: skin of the tank. By hand, from G4OpBoundaryProcess.
TEST_F(ColladaOptics, HasGeant4sPrecedenceInAWholeFile) {
  const Scene scene = load_detector(detector());
  const SolidTree tree = solid_tree(scene);
  const std::uint32_t world = 0, outside = kNone, tank = 1, first = 2, cathode = 3, second = 4;
  using enum SurfaceRule;
  struct Row {
    std::uint32_t from, to;
    SurfaceRule rule;
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

struct Fault {
  const char* what;
  std::string from, to;
  std::string element;  // in the error
  std::string message;
  ErrorKind kind = ErrorKind::malformed;
};

std::vector<Fault> faults() {
  const std::string water = "<material id='__dd__Materials__Water",
                    wall = "<opticalsurface name='__dd__Geometry__Wall'>";
  const std::string numbers = "1.55e-06 490 6.2e-06 800";
  return {
      {"odd", numbers, "1.55e-06 490 6.2e-06", "<matrix name='ABSLENGTH",
       "ABSLENGTH has 3 numbers, and they must be pairs"},
      {"word", numbers, "1.55e-06 490 6.2e-06 long", water, "ABSLENGTH: 'long' is no number"},
      {"comma", numbers, "1.55e-06,490 6.2e-06,800", water, "ABSLENGTH: '1.55e-06,490' is no number"},
      {"infinite", numbers, "1.55e-06 490 6.2e-06 INF", water, "ABSLENGTH: inf (number 4) is not finite"},
      {"nan", numbers, "NaN 490 6.2e-06 800", water, "ABSLENGTH: nan (number 1) is not finite"},
      {"overflow", numbers, "1.55e-06 1e999 6.2e-06 800", water, "ABSLENGTH: inf (number 2) is not finite"},
      {"empty", numbers, "", "material '__dd__Materials__Water", "ABSLENGTH has no point"},
      {"one point", numbers, "1.55e-06 490", "material '__dd__Materials__Water", "ABSLENGTH has one point"},
      {"descending", numbers, "6.2e-06 490 1.55e-06 800", "material '__dd__Materials__Water",
       "ABSLENGTH energy 1.55 eV is not above the one before, 6.2 eV (point 2)"},
      {"twice", numbers, "6.2e-06 490 6.2e-06 800", "material '__dd__Materials__Water",
       "6.2 eV is not above the one before"},
      {"below zero", numbers, "-1 490 1 800", "material '__dd__Materials__Water", "energy -1000000 eV is not positive"},
      {"a constant index", "1.55e-06 1.329 2.48e-06 1.336 6.2e-06 1.39", "-1 1.33 1 1.33",
       "material '__dd__Materials__Water", "RINDEX energy -1000000 eV is not positive"},
      {"negative length", numbers, "1.55e-06 -490 6.2e-06 800", "material '__dd__Materials__Water",
       "ABSLENGTH is -490 at 1.55 eV, and must be not negative"},
      {"no index", "1.329 2.48e-06", "0 2.48e-06", "material '__dd__Materials__Water",
       "RINDEX is 0 at 1.55 eV, and must be positive"},
      {"columns", "<matrix coldim=\"2\" name=\"ABSLENGTH", "<matrix coldim=\"3\" name=\"ABSLENGTH", water,
       "ABSLENGTH has 3 columns, and a table has two"},
      {"column", "<matrix coldim=\"2\" name=\"ABSLENGTH", "<matrix coldim=\"1\" name=\"ABSLENGTH", water,
       "ABSLENGTH has 1 columns"},
      {"coldim", "<matrix coldim=\"2\" name=\"ABSLENGTH", "<matrix coldim=\"two\" name=\"ABSLENGTH", water,
       "coldim='two'"},
      {"matrix without a name", "<matrix coldim=\"2\" name=\"ABSLENGTH", "<matrix coldim=\"2\" id=\"ABSLENGTH",
       "<matrix id=", "the attribute 'name' is missing"},
      {"property without a name", "<property name=\"ABSLENGTH\"", "<property", "<property> in " + water,
       "the attribute 'name' is missing"},
      {"property without a ref", "<property name=\"YIELDRATIO\" ref=\"YIELDRATIO\"/>",
       "<property name=\"YIELDRATIO\"/>", "<property name='YIELDRATIO'>", "the attribute 'ref' is missing"},
      {"two constants", "<constant name=\"YIELDRATIO\"", "<constant name=\"SCINTILLATIONYIELD\"",
       "<constant name='SCINTILLATIONYIELD'>", "two tables or constants are called 'SCINTILLATIONYIELD'"},
      {"a property twice", "<property name=\"YIELDRATIO\"", "<property name=\"SCINTILLATIONYIELD\"",
       "material '__dd__Materials__Scintillator", "SCINTILLATIONYIELD occurs twice"},
      {"constant that is none", "value=\"0.86\"", "value=\"much\"", "<constant name='YIELDRATIO'>",
       "value='much' is no finite number"},
      {"constant of two", "value=\"0.86\"", "value=\"0.86 1\"", "<constant name='YIELDRATIO'>", "value='0.86 1'"},
      {"constant that is infinite", "value=\"0.86\"", "value=\"INF\"", "<constant name='YIELDRATIO'>", "value='INF'"},
      {"constant without a value", " value=\"0.86\"", "", "<constant name='YIELDRATIO'>",
       "the attribute 'value' is missing"},
      {"ratio above 1", "value=\"0.86\"", "value=\"1.86\"", "material '__dd__Materials__Scintillator",
       "YIELDRATIO is 1.86, and must be from 0 to 1"},
      {"reflectivity above 1", "1.55e-06 0.5 6.2e-06 0.25", "1.55e-06 0.5 6.2e-06 1.25",
       "surface '__dd__Geometry__Wall'", "REFLECTIVITY is 1.25 at 6.2 eV, and must be from 0 to 1"},
      {"surface without a name", "<opticalsurface finish=\"3\" model=\"1\" name=\"__dd__Geometry__Wall\"",
       "<opticalsurface finish=\"3\" model=\"1\"", "<opticalsurface>", "the attribute 'name' is missing"},
      {"finish", "finish=\"3\"", "finish=\"256\"", wall, "finish='256' is none of Geant4's, which are 0 to 255"},
      {"no finish", "finish=\"3\"", "", wall, "the attribute 'finish' is missing"},
      {"model", "model=\"1\" name", "model=\"5\" name", wall, "model='5' is none of Geant4's, which are 0 to 4"},
      {"model in words", "model=\"1\" name", "model=\"unified\" name", wall, "model='unified'"},
      {"type", "type=\"0\" value=\"0.2\"", "type=\"8\" value=\"0.2\"", wall, "type='8'"},
      {"negative type", "type=\"0\" value=\"0.2\"", "type=\"-1\" value=\"0.2\"", wall, "type='-1'"},
      {"value", "value=\"0.2\"", "value=\"rough\"", wall, "value='rough' is no finite number"},
      {"negative roughness", "value=\"0.2\"", "value=\"-0.2\"", "surface '__dd__Geometry__Wall'",
       "value is -0.2, and must be not negative"},
      {"polish above 1", "type=\"0\" value=\"1\"", "type=\"0\" value=\"1.5\"", "surface '__dd__Geometry__Cathode'",
       "value is 1.5, and must be a polish, from 0 to 1"},
      {"skin of no surface", "surfaceproperty=\"__dd__Geometry__Wall\"", "surfaceproperty=\"Velvet\"",
       "<skinsurface name='__dd__Geometry__TankSkin'>", "'Velvet' names no <opticalsurface>"},
      {"border of no surface", "surfaceproperty=\"__dd__Geometry__Film\"", "surfaceproperty=\"Velvet\"",
       "<bordersurface name='__dd__Geometry__FilmBorder'>", "'Velvet' names no <opticalsurface>"},
      {"skin without a surface", "surfaceproperty=\"__dd__Geometry__Wall\"", "",
       "<skinsurface name='__dd__Geometry__TankSkin'>", "the attribute 'surfaceproperty' is missing"},
      {"skin without a volume", "<volumeref ref=\"__dd__Geometry__lvTank", "<volume ref=\"__dd__Geometry__lvTank",
       "<skinsurface name='__dd__Geometry__TankSkin'>", "the skin surface has no <volumeref>"},
      {"border of one volume", "<physvolref ref=\"__dd__Geometry__pvTank", "<volume ref=\"__dd__Geometry__pvTank",
       "<bordersurface name='__dd__Geometry__FilmBorder'>", "the border surface has 1 <physvolref>"},
      {"border of an unnamed volume",
       "<physvolref ref=", "<physvolref id=", "<physvolref id=", "the attribute 'ref' is missing"},
      {"one pv", "<pv copyNo=\"7\"", "<other copyNo=\"7\"", "<bsurf name='__dd__Geometry__FilmBorder'>",
       "a border surface lies between two <pv>"},
      {"copy number", "<pv copyNo=\"7\"", "<pv copyNo=\"seven\"", "<bsurf name='__dd__Geometry__FilmBorder'>",
       "copyNo='seven' is no copy number"},
      {"long name", "name=\"__dd__Geometry__Wall\"", "name=\"" + std::string(5000, 'w') + "\"", "<extra>",
       "the attribute 'name' has 5000 characters, and the limit is 4096", ErrorKind::limit},
  };
}

TEST_F(ColladaOptics, NamesWhatIsWrong) {
  EXPECT_GE(faults().size(), 40U);
  for (const Fault& fault : faults()) {
    SCOPED_TRACE(fault.what);
    const Error error = test::expect_error(fault.kind, [&] { (void)load_replaced(fault.from, fault.to); });
    EXPECT_THAT(error.element(), HasSubstr(fault.element));
    EXPECT_THAT(error.problem(), HasSubstr(fault.message));
  }
}

TEST_F(ColladaOptics, NamesATableThatIsCutOff) {
  Detector d = detector();
  d.values_in_attributes = true;
  std::vector<double> numbers;
  for (int i = 0; i != 60; ++i) numbers.insert(numbers.end(), {1.5e-6 + 1e-8 * i, 1.33});
  d.materials[1].properties.tables.push_back({"RAYLEIGH", numbers});
  const Error error = test::expect_error(ErrorKind::malformed, [&] { (void)load_detector(d); });
  EXPECT_THAT(error.problem(), HasSubstr("RAYLEIGH is cut off: its attribute has 255 characters"));
  EXPECT_THAT(error.element(),
              testing::AllOf(HasSubstr("<matrix name='RAYLEIGH0x"), HasSubstr("<material id='__dd__Materials__Water")));
  d.values_in_attributes = false;
  EXPECT_EQ(load_detector(d).optics.materials[1].table("RAYLEIGH")->at.size(), 60U);
}

TEST_F(ColladaOptics, LimitsPropertiesAndNumbers) {
  std::string many, long_table;
  for (int i = 0; i != 1001; ++i) many += "<constant name=\"K" + std::to_string(i) + "\" value=\"1\"/>";
  const std::string end = "<constant name=\"YIELDRATIO\"";
  EXPECT_THAT(test::expect_error(ErrorKind::limit, [&] { (void)load_replaced(end, many + end); }).problem(),
              HasSubstr("has more than 1000 properties"));
  many.clear();
  for (int i = 0; i != 1001; ++i) many += "<property name=\"K" + std::to_string(i) + "\" ref=\"YIELDRATIO\"/>";
  EXPECT_THAT(test::expect_error(ErrorKind::limit, [&] { (void)load_replaced(end, many + end); }).problem(),
              HasSubstr("has more than 1000 properties"));
  for (int i = 0; i != 2'000'002; ++i) long_table += "1 ";
  EXPECT_THAT(test::expect_error(ErrorKind::limit, [&] { (void)load_replaced("1.55e-06 490 6.2e-06 800", long_table); })
                  .problem(),
              HasSubstr("ABSLENGTH has 2000002 numbers, and the limit is 2000000"));
}

TEST_F(ColladaOptics, MakesSensorsOfAMaterialWithEfficiency) {
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
  EXPECT_THAT(optics.channels, ElementsAre(SolidChannel{3, 0, kNone}, SolidChannel{5, 1, kNone}));
}

TEST_F(ColladaOptics, ASkinOfTheFileHoldsBeforeAMaterialsEfficiency) {
  Detector d = sensor_material();
  d.skins.push_back({"CathodeSkin", "/dd/Geometry/Wall", "/dd/Geometry/lvCathode"});
  const Scene scene = load_detector(d);
  EXPECT_EQ(scene.optics.surfaces.size(), 2U);
  EXPECT_EQ(scene.optics.surfaces[surface_between(scene, solid_tree(scene), 2, 3).surface].name,
            "__dd__Geometry__Wall");
  EXPECT_THAT(scene.optics.channels, IsEmpty());
}

TEST_F(ColladaOptics, ABorderOfTheFileHoldsBeforeAMaterialsEfficiency) {
  Detector d = sensor_material();
  d.borders = {{"CathodeBorder", "/dd/Geometry/Film", "/dd/Geometry/lvTank#pvSensor:1",
                "/dd/Geometry/lvSensor#pvCathode", 7, 3}};
  const Scene scene = load_detector(d);
  const SolidTree tree = solid_tree(scene);
  EXPECT_EQ(surface_between(scene, tree, 2, 3).rule, SurfaceRule::border);
  EXPECT_EQ(surface_between(scene, tree, 4, 5).rule, SurfaceRule::skin_of_entered) << "the other sensor's cathode";
}

TEST_F(ColladaOptics, MakesNoSensorsOfMaterialsWhereTheOptionSaysSo) {
  LoadOptions options;
  options.sensor_materials = false;
  const Scene scene = load_text(test::g4dae::write(sensor_material()), options);
  EXPECT_EQ(scene.optics.surfaces.size(), 2U);
  EXPECT_THAT(scene.optics.channels, IsEmpty());
  EXPECT_THAT(scene.report.warnings, ElementsAre(testing::AllOf(HasSubstr("material '__dd__Materials__Bialkali"),
                                                                HasSubstr("EFFICIENCY is not honoured"))));
}

TEST_F(ColladaOptics, AnEfficiencyOfZeroMakesNoSensor) {
  Detector d = sensor_material();
  d.materials[3].properties.tables[0].second = {1.55e-6, 0, 6.2e-6, 0};
  const Scene scene = load_detector(d);
  EXPECT_EQ(scene.optics.surfaces.size(), 2U);
  EXPECT_THAT(scene.optics.channels, IsEmpty());
}

TEST_F(ColladaOptics, SolidsOfASkinWithEfficiencyHaveTheirCopyNumbersAsChannels) {
  Detector d = detector();
  // One cathode each, with copy numbers 21 and 20.
  d.volumes[1].daughters.clear();
  d.volumes[2].daughters.push_back({"/dd/Geometry/pvCathode:1", "/dd/Geometry/lvCathode", 21, {0, 20, 0}});
  d.volumes[2].daughters.push_back({"/dd/Geometry/pvCathode:2", "/dd/Geometry/lvCathode", 20, {0, -20, 0}});
  const Scene scene = load_detector(d);
  EXPECT_THAT(scene.optics.channels, ElementsAre(SolidChannel{4, 21, kNone}, SolidChannel{5, 20, kNone}));
}

TEST_F(ColladaOptics, SolidsThatABorderWithEfficiencyLeadsIntoDetect) {
  Detector d = detector();
  d.skins.erase(d.skins.begin());
  d.borders.push_back({"CathodeBorder", "/dd/Geometry/Cathode", "/dd/Geometry/lvTank#pvSensor:2",
                       "/dd/Geometry/lvSensor#pvCathode", 9, 3});
  const Scene scene = load_detector(d);
  EXPECT_THAT(scene.optics.channels, ElementsAre(SolidChannel{3, 0, kNone}, SolidChannel{5, 1, kNone}));
}

TEST_F(ColladaOptics, WarnsOfAMaterialWithoutAnIndexThatLightReaches) {
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

TEST_F(ColladaOptics, ASceneWithoutOpticsHasNone) {
  const Scene scene = load_text(test::cube_document());
  EXPECT_TRUE(scene.optics.empty());
  EXPECT_TRUE(scene.optics.skins.empty());
}

}  // namespace
}  // namespace raylift
