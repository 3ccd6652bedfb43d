// SPDX-License-Identifier: Apache-2.0
// Sidecars: what each field gives, what is wrong by its place, and that what is written reads back the same.
#include <gtest/gtest.h>
#include <raylift/geometry/optics/sidecar.h>
#include <raylift/geometry/optics/surface_between.h>

#include <cmath>
#include <numbers>

#include "optics/sidecar.h"
#include "support/expect_error.h"
#include "support/tank_scene.h"

namespace raylift {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kFile = "tank.optics.json";

/// Files that a sidecar may refer to.
std::string columns(const std::string& name) {
  if (name == "water.csv") return "# measured\nlambda, n, mu\n300, 1.35, 20\n\n400,1.34,30\n500 ,1.33, 40\n";
  if (name == "bare.txt") return "300 1.35\n400 1.34\n";
  if (name == "broken.csv") return "lambda,n\n300,1.35\n400,-1\n";
  if (name == "words.csv") return "lambda,n\n300,1.35\n400,high\n";
  if (name == "ragged.csv") return "lambda,n\n300,1.35\n400\n";
  throw Error(ErrorKind::io, "the file can't be opened", {name, ""});
}

void lay(Scene& scene, const std::string& fields) {
  detail::read_sidecar(scene, R"({"raylift_optics": 1)" + (fields.empty() ? "" : ", " + fields) + "}", kFile, columns);
}

Scene with(const std::string& fields) {
  Scene scene = test::tank_scene();
  lay(scene, fields);
  return scene;
}

OpticalProperties water_with(const std::string& properties) {
  return with(R"("materials": {"Water": {)" + properties + "}}").optics.materials.at(1);
}

TEST(Sidecar, ConvertsUnits) {
  const OpticalProperties properties = water_with(R"(
      "RINDEX": {"wavelength_nm": [300, 400], "values": [1.35, 1.34]},
      "ABSLENGTH": {"energy_eV": [2, 3], "values": [10, 20.5], "unit": "m"},
      "RAYLEIGH": {"energy_MeV": [2e-6, 3e-6], "values": [1, 2], "unit": "cm"},
      "GROUPVEL": {"energy_eV": [2, 3], "values": [2e8, 2.1e8], "unit": "m/s"},
      "SCINTILLATIONYIELD": {"value": 24, "unit": "1/keV"},
      "SCINTILLATIONTIMECONSTANT1": {"value": 1.4, "unit": "us"},
      "RESOLUTIONSCALE": 2)");
  const OpticalTable* index = properties.table("RINDEX");
  EXPECT_EQ(index->axis, OpticalTable::Axis::wavelength_nm);
  EXPECT_THAT(index->at, ElementsAre(300, 400));
  EXPECT_THAT(index->values, ElementsAre(1.35, 1.34));
  EXPECT_EQ(properties.table("ABSLENGTH")->axis, OpticalTable::Axis::energy_ev);
  EXPECT_THAT(properties.table("ABSLENGTH")->values, ElementsAre(10000, 20500));
  EXPECT_THAT(properties.table("RAYLEIGH")->at, ElementsAre(2, 3));
  EXPECT_THAT(properties.table("RAYLEIGH")->values, ElementsAre(10, 20));
  EXPECT_NEAR(properties.table("GROUPVEL")->values[0], 200, 1e-12);
  EXPECT_EQ(properties.constant("SCINTILLATIONYIELD"), 24000);
  EXPECT_EQ(properties.constant("SCINTILLATIONTIMECONSTANT1"), 1400);
  EXPECT_EQ(properties.constant("RESOLUTIONSCALE"), 2);
}

TEST(Sidecar, TakesColumnsOfFiles) {
  const OpticalProperties properties = water_with(R"(
      "RINDEX": {"csv": "water.csv", "wavelength_nm": "lambda", "values": "n"},
      "ABSLENGTH": {"csv": "water.csv", "wavelength_nm": 1, "values": 3, "unit": "m"})");
  EXPECT_THAT(properties.table("RINDEX")->at, ElementsAre(300, 400, 500));
  EXPECT_THAT(properties.table("RINDEX")->values, ElementsAre(1.35, 1.34, 1.33));
  EXPECT_THAT(properties.table("ABSLENGTH")->values, ElementsAre(20000, 30000, 40000));
  EXPECT_THAT(water_with(R"("RINDEX": {"csv": "bare.txt", "wavelength_nm": 1, "values": 2})").table("RINDEX")->values,
              ElementsAre(1.35, 1.34));
}

TEST(Sidecar, FindsMaterialsByPatterns) {
  const Scene scene = with(R"("materials": {
      "*": {"RESOLUTIONSCALE": 1}, "Water": {"RESOLUTIONSCALE": 2}, "*Gla?s": {"YIELDRATIO": 0.5},
      "Watr": {"RESOLUTIONSCALE": 7}})");
  ASSERT_THAT(scene.optics.materials, SizeIs(3));
  EXPECT_EQ(scene.optics.materials[0].constant("RESOLUTIONSCALE"), 1);
  EXPECT_EQ(scene.optics.materials[1].constant("RESOLUTIONSCALE"), 2);
  EXPECT_EQ(scene.optics.materials[2].constant("YIELDRATIO"), 0.5);
  EXPECT_THAT(
      scene.report.warnings,
      ElementsAre("tank.optics.json: materials.Watr: no material of the scene is called so: did you mean 'Water'?"));
}

TEST(Sidecar, ReplacesPropertiesOfTheSameKeyAndRemovesThem) {
  Scene scene = with(R"("materials": {"Water": {
      "RINDEX": {"energy_eV": [2, 3], "values": [1, 1]}, "ABSLENGTH": {"energy_eV": [2, 3], "values": [5, 6]},
      "YIELDRATIO": 0.1, "RESOLUTIONSCALE": 3}, "Air": {"RESOLUTIONSCALE": 4}})");
  lay(scene, R"("materials": {"Water0x2f0": {
      "RINDEX": {"energy_eV": [2, 4], "values": [1.5, 1.6]}, "ABSLENGTH": null, "YIELDRATIO": null}, "Air": null})");
  const OpticalProperties& water = scene.optics.materials[1];
  EXPECT_THAT(water.table("RINDEX")->values, ElementsAre(1.5, 1.6));
  EXPECT_EQ(water.tables.size(), 1U);
  EXPECT_THAT(water.constants, ElementsAre(OpticalProperties::Constant{"RESOLUTIONSCALE", 3}));
  EXPECT_TRUE(scene.optics.materials[0].empty());
}

TEST(Sidecar, GivesSurfacesTheirModels) {
  const Scene scene = with(R"("surfaces": {
      "Foil": {"model": "unified", "finish": "groundfrontpainted", "type": "dielectric_metal", "value": 0.2,
               "properties": {"REFLECTIVITY": {"wavelength_nm": [300, 600], "values": [0.9, 0.95]}}},
      "Table": {"model": 2, "finish": 12, "type": "dielectric_LUT"},
      "Film": {"model": "thin_film", "properties": {"FILM_THICKNESS": {"value": 20, "unit": "nm"}}},
      "Filter": {"model": "dichroic", "dichroic": [
          {"degrees": 0, "reflect": {"wavelength_nm": [300, 600], "values": [0, 1]},
           "transmit": {"wavelength_nm": [300, 600], "values": [1, 0]}},
          {"degrees": 45, "reflect": {"wavelength_nm": [300, 600], "values": [0, 0.5]},
           "transmit": {"wavelength_nm": [300, 600], "values": [1, 0]}}]}})");
  const std::vector<OpticalSurface>& surfaces = scene.optics.surfaces;
  ASSERT_THAT(surfaces, SizeIs(4));
  EXPECT_EQ(surfaces[0].model, SurfaceModel::unified);
  EXPECT_EQ(surfaces[0].finish, SurfaceFinish::ground_front_painted);
  EXPECT_EQ(surfaces[0].type, SurfaceType::dielectric_metal);
  EXPECT_EQ(surfaces[0].value, 0.2);
  EXPECT_EQ(surfaces[1].model, SurfaceModel::lut);
  EXPECT_EQ(static_cast<int>(surfaces[1].finish), 12);
  EXPECT_EQ(surfaces[1].type, SurfaceType::dielectric_lut);
  EXPECT_DOUBLE_EQ(*surfaces[2].properties.constant("FILM_THICKNESS"), 2e-5);
  ASSERT_THAT(surfaces[3].dichroic, SizeIs(2));
  EXPECT_DOUBLE_EQ(surfaces[3].dichroic[1].radians, std::numbers::pi / 4);
  EXPECT_THAT(surfaces[3].dichroic[1].reflect.values, ElementsAre(0, 0.5));
}

TEST(Sidecar, LaysAssignmentsOverTheFilesOwn) {
  Scene scene = test::tank_scene();
  scene.optics.surfaces = {{"Old0x9", {}, {}, {}, 1, {}, {}}, {"Other", {}, {}, {}, 1, {}, {}}};
  SurfaceAssignment own{SurfaceAssignment::Kind::skin, "own", 0, {}, {}};
  own.from.volume = "lvPmt";
  scene.optics.assignments = {own};
  Scene changed = scene;
  lay(changed, R"("surfaces": {"Old": {"value": 0.5}, "New": {}}, "assignments": [
      {"surface": "New", "skin": {"solid": "pvPmt", "copy_number": 9}},
      {"surface": "Other", "border": {"from": {"volume": "lvTank"}, "to": {"material": "*Glass", "mesh": "b*"}}}])");
  EXPECT_EQ(changed.optics.surfaces[0].value, 0.5);
  EXPECT_EQ(changed.optics.surfaces[0].name, "Old0x9");
  resolve_optics(changed);
  const SolidTree tree = solid_tree(changed);
  EXPECT_EQ(surface_between(changed, tree, 2, 1).surface, 0U);
  EXPECT_EQ(surface_between(changed, tree, 3, 1).surface, 2U);  // the sidecar's comes after
  EXPECT_EQ(surface_between(changed, tree, 1, 3).surface, 1U);
  EXPECT_EQ(changed.optics.assignments[1].name, "assignments[0]");

  changed = scene;
  lay(changed, R"("surfaces": {"Old0x9": null})");
  EXPECT_THAT(changed.optics.surfaces, SizeIs(1));
  EXPECT_THAT(changed.optics.assignments, IsEmpty());
  changed = scene;
  lay(changed, R"("discard": ["assignments"])");
  EXPECT_THAT(changed.optics.surfaces, SizeIs(2));
  EXPECT_THAT(changed.optics.assignments, IsEmpty());
  changed = scene;
  lay(changed, R"("discard": ["materials", "surfaces", "channels"])");
  EXPECT_TRUE(changed.optics.empty());
}

TEST(Sidecar, GivesSolidsChannels) {
  Scene scene = with(R"("channel_types": {"R5912": {
        "efficiency": {"wavelength_nm": [300, 600], "values": [0.1, 0.2]},
        "angle_degrees": [0, 90], "angle_efficiency": [1, 0.5],
        "time": {"ns": [-1, 0, 1], "density": [0, 3, 0]}, "charge": {"pe": [0, 1, 2], "density": [0, 1, 0]}}},
      "channels": [{"solids": {"volume": "lvPmt"}, "type": "R5912", "first": 100}])");
  resolve_optics(scene);
  EXPECT_THAT(scene.optics.channels, ElementsAre(Optics::Channel{2, 100, 0}, Optics::Channel{3, 101, 0}));
  const ChannelType& type = scene.optics.channel_types[0];
  EXPECT_THAT(type.angles, ElementsAre(0, std::numbers::pi / 2));
  EXPECT_THAT(type.angle_efficiency, ElementsAre(1, 0.5));
  EXPECT_THAT(type.time.at, ElementsAre(-1, 0, 1));
  EXPECT_THAT(type.charge.density, ElementsAre(0, 1, 0));
}

/// Every kind of thing that a scene's optics hold, with numbers that have no short decimal form.
Scene rich_scene() {
  Scene scene = test::tank_scene();
  Optics& optics = scene.optics;
  optics.materials.resize(3);
  optics.materials[1].tables = {
      {"RINDEX", OpticalTable::Axis::energy_ev, {1.0 / 3, 2.0 / 3, 1e22}, {0.1, 1e-300, 7.1}},
      {"UNHEARD", OpticalTable::Axis::wavelength_nm, {std::nextafter(300, 400), 301}, {-1, 5e-324}}};
  optics.materials[1].constants = {{"YIELDRATIO", 0.1 + 0.2}, {"ODD KEY", -1e18}};
  OpticalSurface filter{"a \"b\"*", SurfaceModel::dichroic, SurfaceFinish::ground, SurfaceType::coated, 0.3, {}, {}};
  const OpticalTable reflect{"dichroic reflect", OpticalTable::Axis::wavelength_nm, {300, 301}, {0, 0.25}};
  const OpticalTable transmit{"dichroic transmit", OpticalTable::Axis::wavelength_nm, {300, 301}, {0.5, 0.75}};
  filter.dichroic = {{0.1, reflect, transmit}, {std::numbers::pi / 7, reflect, transmit}};
  optics.surfaces = {filter, {"a\xC3\xA9", SurfaceModel::simple, static_cast<SurfaceFinish>(17), {}, 1, {}, {}}};
  optics.surfaces[1].properties.constants = {{"SURFACEROUGHNESS", 2}};
  SolidSelector some{"pvPm[a-z]*", "lv?mt", "", "", "/pv\\*", {}};
  SolidSelector other{"", "", "box", "Water", "", -3};
  optics.assignments = {{SurfaceAssignment::Kind::skin, "", 1, some, {}},
                        {SurfaceAssignment::Kind::border, "two", 0, other, some}};
  ChannelType type{"tube",           OpticalTable{"efficiency", OpticalTable::Axis::energy_ev, {2, 3}, {0.2, 0.3}},
                   {0, 1.1},         {1, 0.7},
                   {{0, 1}, {1, 2}}, {{0.5, 1}, {3, 0}}};
  optics.channel_types = {type, {"plain", {}, {}, {}, {}, {}}};
  optics.channel_assignments = {{some, 0, 7}, {other, kNone, {}}};
  return scene;
}

TEST(Sidecar, ReadsBackWhatWasWritten) {
  const Scene scene = rich_scene();
  const std::string text = optics_json(scene);
  Scene again = test::tank_scene();
  detail::read_sidecar(again, text, kFile, columns);
  EXPECT_EQ(again.optics.materials, scene.optics.materials);
  EXPECT_EQ(again.optics.surfaces, scene.optics.surfaces);
  EXPECT_EQ(again.optics.assignments, scene.optics.assignments);
  EXPECT_EQ(again.optics.channel_types, scene.optics.channel_types);
  EXPECT_EQ(again.optics.channel_assignments, scene.optics.channel_assignments);
  EXPECT_EQ(optics_json(again), text);
  EXPECT_THAT(again.report.warnings, IsEmpty());
}

TEST(Sidecar, GivesSurfacesOfOneNameDifferentOnes) {
  Scene scene = test::tank_scene();
  for (const char* name : {"A", "A", "A#2", "A"}) scene.optics.surfaces.push_back({name, {}, {}, {}, 1, {}, {}});
  for (std::uint32_t i = 0; i != 4; ++i) {
    scene.optics.surfaces[i].value = i;
    scene.optics.assignments.push_back({SurfaceAssignment::Kind::skin, "s", i, {}, {}});
  }
  Scene again = test::tank_scene();
  detail::read_sidecar(again, optics_json(scene), kFile, columns);
  ASSERT_THAT(again.optics.assignments, SizeIs(4));
  for (std::uint32_t i = 0; i != 4; ++i) EXPECT_EQ(again.optics.surfaces[again.optics.assignments[i].surface].value, i);
}

TEST(Sidecar, IsNotWrittenWhereItCouldNotSayWhatIsThere) {
  Scene scene = test::tank_scene();
  scene.materials[1].name = scene.materials[0].name;
  scene.optics.materials.resize(3);
  scene.optics.materials[0].constants = {{"YIELDRATIO", 1}};
  Error error = test::expect_error(ErrorKind::unsupported, [&] { (void)optics_json(scene); });
  EXPECT_THAT(error.what(), HasSubstr("two materials are called 'Air0x1f0'"));
  scene.materials[0].name = "\xFF";
  error = test::expect_error(ErrorKind::unsupported, [&] { (void)optics_json(scene); });
  EXPECT_THAT(error.what(), HasSubstr("UTF-8"));
}

struct Broken {
  std::string name;
  std::string fields;  ///< or all of a document
  std::string problem;
  ErrorKind kind = ErrorKind::malformed;
};

class BrokenSidecar : public testing::TestWithParam<Broken> {};

std::string in_water(const std::string& property) {
  return R"("materials": {"Water": {)" + property + "}}";
}
std::string in_surface(const std::string& fields) {
  return R"("surfaces": {"Foil": {)" + fields + "}}";
}
std::string in_type(const std::string& fields) {
  return R"("channel_types": {"tube": {)" + fields + "}}";
}

const std::vector<Broken> kBroken{
    {"NoJson", "{]", "no valid JSON"},
    {"NoObject", "[]", "the document is array, and an object is expected"},
    {"NoVersion", "{}", "the document lacks 'raylift_optics'"},
    {"LaterVersion", R"({"raylift_optics": 2})", "the sidecar is of version 2", ErrorKind::unsupported},
    {"TwiceInOneObject", R"("materials": {"Water": {}, "Water": {}})", "'Water' occurs twice in one object"},
    {"Deep", "\"materials\": " + std::string(40, '['), "nested deeper than 32", ErrorKind::limit},
    {"UnknownField", R"("material": {})", "unknown field 'material': did you mean 'materials'?"},
    {"UnknownFieldOfTable", in_water(R"("RINDEX": {"wavelength_nm": [1, 2], "value": [1, 1]})"),
     "materials.Water.RINDEX has an unknown field 'wavelength_nm'"},
    {"UnknownFieldOfSurface", in_surface(R"("modle": "unified")"),
     "surfaces.Foil has an unknown field 'modle': did you mean 'model'?"},
    {"NoAxis", in_water(R"("RINDEX": {"values": [1, 1]})"), "materials.Water.RINDEX lacks what it is over"},
    {"TwoAxes", in_water(R"("RINDEX": {"values": [1, 1], "energy_eV": [1, 2], "wavelength_nm": [1, 2]})"),
     "has both 'wavelength_nm' and 'energy_eV'"},
    {"NoValues", in_water(R"("RINDEX": {"energy_eV": [1, 2]})"), "materials.Water.RINDEX lacks 'values'"},
    {"NoNumber", in_water(R"("RINDEX": {"energy_eV": [1, "2"], "values": [1, 1]})"),
     "materials.Water.RINDEX.energy_eV[1] is string, and a number is expected"},
    {"NegativeEnergy", in_water(R"("RINDEX": {"energy_eV": [-1, 2], "values": [1, 1]})"),
     "materials.Water.RINDEX.energy_eV[0]: RINDEX energy -1 eV is not positive"},
    {"Descending", in_water(R"("RINDEX": {"wavelength_nm": [400, 300], "values": [1, 1]})"),
     "materials.Water.RINDEX.wavelength_nm[1]: RINDEX wavelength 300 nm is not above the one before"},
    {"BadIndex", in_water(R"("RINDEX": {"wavelength_nm": [1, 2, 3, 4], "values": [1, 1, 1, 0]})"),
     "materials.Water.RINDEX.values[3]: RINDEX is 0 at 4 nm, and must be positive"},
    {"BadProbability", in_surface(R"("properties": {"REFLECTIVITY": {"energy_eV": [1, 2], "values": [0, 1.5]}})"),
     "surfaces.Foil.properties.REFLECTIVITY.values[1]: REFLECTIVITY is 1.5 at 2 eV, and must be from 0 to 1"},
    {"OnePoint", in_water(R"("RINDEX": {"wavelength_nm": [400], "values": [1]})"),
     "materials.Water.RINDEX has one point, and a table needs two"},
    {"MoreValues", in_water(R"("RINDEX": {"wavelength_nm": [400, 500], "values": [1, 1, 1]})"),
     "materials.Water.RINDEX has 2 points and 3 values"},
    {"NumberForTable", in_water(R"("RINDEX": 1.3)"), "materials.Water.RINDEX is one number, and a table is expected"},
    {"TableForNumber", in_water(R"("YIELDRATIO": {"energy_eV": [1, 2], "values": [1, 1]})"),
     "materials.Water.YIELDRATIO is a table, and one number is expected"},
    {"BadConstant", in_water(R"("YIELDRATIO": {"value": 2})"),
     "materials.Water.YIELDRATIO.value is 2, and must be from 0"},
    {"WrongUnit", in_water(R"("ABSLENGTH": {"energy_eV": [1, 2], "values": [1, 1], "unit": "ns"})"),
     "materials.Water.ABSLENGTH.unit is 'ns', and ABSLENGTH has one of mm, cm, m"},
    {"UnitOfNothing", in_water(R"("YIELDRATIO": {"value": 1, "unit": "mm"})"), "YIELDRATIO has no unit"},
    {"UnitOfUnknownKey", in_water(R"("MINE": {"value": 1, "unit": "mm"})"), "raylift does not know what 'MINE' is"},
    {"OddName", R"("materials": {"a.b": {"YIELDRATIO": "x"}})", R"(["a.b"].YIELDRATIO)"},
    {"NoFile", in_water(R"("RINDEX": {"csv": "none.csv", "wavelength_nm": 1, "values": 2})"),
     "materials.Water.RINDEX.csv: the file can't be opened", ErrorKind::io},
    {"NoColumn", in_water(R"("RINDEX": {"csv": "water.csv", "wavelength_nm": "lamda", "values": 2})"),
     "no column is called 'lamda': did you mean 'lambda'?"},
    {"NoSuchColumn", in_water(R"("RINDEX": {"csv": "water.csv", "wavelength_nm": 0, "values": 2})"),
     "there is no column 0: the file has 3"},
    {"BadCell", in_water(R"("RINDEX": {"csv": "broken.csv", "wavelength_nm": 1, "values": 2})"),
     "materials.Water.RINDEX.values, line 3 of broken.csv: RINDEX is -1"},
    {"WordInColumn", in_water(R"("RINDEX": {"csv": "words.csv", "wavelength_nm": 1, "values": 2})"),
     "'high' in column 2 of line 3 is no number"},
    {"RaggedLines", in_water(R"("RINDEX": {"csv": "ragged.csv", "wavelength_nm": 1, "values": 2})"),
     "line 3 has 1 columns, and the first one has 2"},
    {"NoModel", in_surface(R"("model": "unifed")"), "surfaces.Foil.model is 'unifed', which is no model"},
    {"NoFinish", in_surface(R"("finish": 99)"), "surfaces.Foil.finish is '99', which is no finish"},
    {"NoType", in_surface(R"("type": "glass")"), "surfaces.Foil.type is 'glass', which is no type"},
    {"NoAngle", in_surface(R"("dichroic": [{}])"), "surfaces.Foil.dichroic[0] needs an angle"},
    {"SteepAngle", in_surface(R"("dichroic": [{"degrees": 90}])"), "it must be from 0 to less than pi/2"},
    {"UnknownSurface", R"("surfaces": {"Foil": {}}, "assignments": [{"surface": "Fiol", "skin": {}}])",
     "assignments[0].surface is 'Fiol', and no surface is called so: did you mean 'Foil'?"},
    {"NoPlace", R"("surfaces": {"Foil": {}}, "assignments": [{"surface": "Foil"}])", "assignments[0] needs a place"},
    {"HalfABorder", R"("surfaces": {"Foil": {}}, "assignments": [{"surface": "Foil", "border": {"from": {}}}])",
     "assignments[0].border lacks 'to'"},
    {"UnknownSelector", R"("channels": [{"solids": {"name": "pmt"}}])",
     "channels[0].solids has an unknown field 'name'"},
    {"EmptyPattern", R"("channels": [{"solids": {"solid": ""}}])", "channels[0].solids.solid is empty"},
    {"HalfACopyNumber", R"("channels": [{"solids": {"copy_number": 1.5}}])",
     "channels[0].solids.copy_number is number, and a whole number is expected"},
    {"UnknownChannelType", R"("channels": [{"solids": {}, "type": "tube"}])", "no channel type is called so"},
    {"AnglesNotAscending", in_type(R"("angle_degrees": [0, 0], "angle_efficiency": [1, 1])"),
     "channel_types.tube.angle_degrees[1] is not above the one before"},
    {"AngleEfficiency", in_type(R"("angle_degrees": [0, 90], "angle_efficiency": [1, 2])"),
     "channel_types.tube.angle_efficiency[1] must be from 0 to 1"},
    {"EfficiencyWithoutAngles", in_type(R"("angle_efficiency": [1])"), "has 'angle_efficiency' without angles"},
    {"FlatDistribution", in_type(R"("time": {"ns": [0, 1], "density": [0, 0]})"),
     "channel_types.tube.time.density is zero everywhere"},
    {"NoSuchPart", R"("discard": ["solids"])", "discard[0] is 'solids'"},
};

TEST_P(BrokenSidecar, IsRefusedByPlace) {
  const Broken& broken = GetParam();
  const bool whole = broken.fields.front() != '"';
  const Error error = test::expect_error(broken.kind, [&] {
    if (!whole) return (void)with(broken.fields);
    Scene scene = test::tank_scene();
    detail::read_sidecar(scene, broken.fields, kFile, columns);
  });
  EXPECT_THAT(error.problem(), HasSubstr(broken.problem));
  EXPECT_THAT(error.file(), testing::MatchesRegex("tank.optics.json|[a-z]+\\.csv"));
}

INSTANTIATE_TEST_SUITE_P(All, BrokenSidecar, testing::ValuesIn(kBroken),
                         [](const auto& broken) { return broken.param.name; });

}  // namespace
}  // namespace raylift
