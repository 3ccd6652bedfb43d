// SPDX-License-Identifier: Apache-2.0
// The optical part of GDML files: values, names that differ by pointers, and what is wrong by its element.
#include <gtest/gtest.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/optics/surface_between.h>

#include <numbers>

#include "geometry/src/scene/names.h"
#include "optics/gdml.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "support/tank_scene.h"

namespace raylift {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

struct Parts {
  std::string define, materials, solids, structure;
};

std::string document(const Parts& parts) {
  return "<?xml version=\"1.0\"?>\n<gdml><define>" + parts.define + "</define><materials>" + parts.materials +
         "</materials><solids>" + parts.solids + "</solids><structure>" + parts.structure + "</structure></gdml>";
}

void lay(Scene& scene, const Parts& parts) {
  detail::read_gdml(scene, document(parts), "tank.gdml");
}

constexpr const char* kIndex = R"(<matrix name="N" coldim="2" values="2e-06 1.33 3e-06 1.34"/>)";
constexpr const char* kVolumes = R"(
    <volume name="lvPmt0xaa"/>
    <volume name="lvTank0xab"><physvol name="pvPmt0xb1" copynumber="7"><volumeref ref="lvPmt0xaa"/></physvol>
                              <physvol name="pvPmt0xb2" copynumber="9"><volumeref ref="lvPmt0xaa"/></physvol></volume>
    <volume name="lvWorld0xac"><physvol name="pvTank0xb3"><volumeref ref="lvTank0xab"/></physvol></volume>)";

std::string water(const std::string& properties) {
  return "<material name=\"Water0x99\">" + properties + "</material>";
}

TEST(Gdml, ReadsTablesAndConstants) {
  Scene scene = test::tank_scene();
  lay(scene, {std::string(kIndex) + R"(<matrix name="Y" coldim="1" values="24000"/>
                  <constant name="top" value="(1+2)*eV"/><quantity name="len" type="length" value="2" unit="m"/>
                  <variable name="v" value="-len/4+600"/>
                  <matrix name="A" coldim="2" values="2*eV len
                      top v*2"/>)",
              water(R"(<property name="RINDEX" ref="N"/><property name="ABSLENGTH" ref="A"/>
                  <property name="SCINTILLATIONYIELD" ref="Y"/><D value="1"/>)") +
                  R"(<material name="/dd/Glass0x77"><property name="RINDEX" ref="N"/></material>
                     <material name="Steel0x5"><property name="RINDEX" ref="N"/></material>
                     <material name="Lead0x6"/>)",
              "", ""});
  const OpticalProperties& properties = scene.optics.materials.at(1);
  EXPECT_EQ(properties.table("RINDEX")->axis, OpticalTable::Axis::energy_ev);
  EXPECT_THAT(properties.table("RINDEX")->at, ElementsAre(DoubleEq(2), DoubleEq(3)));
  EXPECT_THAT(properties.table("RINDEX")->values, ElementsAre(1.33, 1.34));
  EXPECT_THAT(properties.table("ABSLENGTH")->at, ElementsAre(DoubleEq(2), DoubleEq(3)));
  EXPECT_THAT(properties.table("ABSLENGTH")->values, ElementsAre(DoubleEq(2000), DoubleEq(200)));
  EXPECT_EQ(properties.constant("SCINTILLATIONYIELD"), 24000);
  EXPECT_NE(scene.optics.materials[2].table("RINDEX"), nullptr);  // "__dd__Glass0x3f0"
  EXPECT_THAT(scene.report.warnings, ElementsAre(HasSubstr("no material of the scene is called 'Steel0x5'")));
}

// Numbers as older versions of Geant4 wrote them, and points as people edit them.
TEST(Gdml, ReadsWhatRealFilesHave) {
  Scene scene = test::tank_scene();
  lay(scene,
      {R"(<matrix coldim="2" name="Y" values="-1 11522 1 11522"/><matrix coldim="2" name="G" values="-1 4.93 1 4.93"/>
                 <matrix coldim="2" name="R" values="2e-6 1.5 3e-6 1.6 3e-6 1.6 4e-6 1.7"/>)",
       R"(<material name="Water0x990x77"><property name="SCINTILLATIONYIELD" ref="Y"/>
                 <property name="GammaFASTTIMECONSTANT" ref="G"/><property name="RINDEX" ref="R"/></material>)",
       "", ""});
  const OpticalProperties& properties = scene.optics.materials.at(1);
  EXPECT_EQ(properties.constant("SCINTILLATIONYIELD"), 11522);
  EXPECT_EQ(properties.constant("GammaFASTTIMECONSTANT"), 4.93);
  EXPECT_THAT(properties.table("RINDEX")->values, ElementsAre(1.5, 1.6, 1.7));
  EXPECT_THAT(scene.report.warnings, ElementsAre(HasSubstr("RINDEX: the point at 3.000000 eV is there twice")));
}

TEST(Gdml, ReadsRowsInAnyOrderAsGeant4Does) {
  const auto table = [](const std::string& values) {
    Scene scene = test::tank_scene();
    lay(scene, {"<matrix name=\"N\" coldim=\"2\" values=\"" + values + "\"/>",
                water(R"(<property name="ABSLENGTH" ref="N"/>)"), "", ""});
    return *scene.optics.materials.at(1).table("ABSLENGTH");
  };
  for (const char* values : {"2e-6 1 4e-6 3 6e-6 5", "6e-6 5 4e-6 3 2e-6 1", "2e-6 1 6e-6 5 4e-6 3"})
    EXPECT_THAT(table(values).values, ElementsAre(1, 3, 5)) << values;
  // A step: from 1 to 9 at 3 eV, whichever end the file begins at.
  for (const char* values : {"2e-6 1 3e-6 1 3e-6 9 4e-6 9", "4e-6 9 3e-6 9 3e-6 1 2e-6 1"}) {
    const OpticalTable step = table(values);
    EXPECT_THAT(step.values, ElementsAre(1, 1, 9, 9)) << values;
    EXPECT_EQ(step.value(kEvNm / 2.999), 1);
    EXPECT_EQ(step.value(kEvNm / 3.001), 9);
  }
  for (const double nm : {200.0, 413.3, 800.0}) EXPECT_EQ(table("3e-6 7").value(nm), 7);
}

TEST(Gdml, DoesNotLookAtTheNameOfTheRoot) {
  Scene scene = test::tank_scene();
  detail::read_gdml(scene,
                    "<gdml_simple_extension><define>" + std::string(kIndex) + "</define><materials>" +
                        water(R"(<property name="RINDEX" ref="N"/>)") + "</materials></gdml_simple_extension>",
                    "tank.gdml");
  EXPECT_NE(scene.optics.materials.at(1).table("RINDEX"), nullptr);
}

TEST(Gdml, ReadsSurfacesByNamesAndNumbers) {
  Scene scene = test::tank_scene();
  scene.optics.surfaces = {{"Old0x1", SurfaceModel::glisur, {}, {}, 1, {{}, {{"SURFACEROUGHNESS", 3}}}, {}}};
  lay(scene,
      {kIndex, "",
       R"(<opticalsurface name="New0x2" model="unified" finish="polishedbackpainted" type="dielectric_LUTDAVIS" value="5*deg">
                   <property name="RINDEX" ref="N"/></opticalsurface>
                 <opticalsurface name="Old0x3" model="2" finish="etchedair" type="0" value="0.5"/>)",
       ""});
  ASSERT_THAT(scene.optics.surfaces, SizeIs(2));
  const OpticalSurface& old = scene.optics.surfaces[0];
  EXPECT_EQ(old.model, SurfaceModel::lut);
  EXPECT_EQ(static_cast<int>(old.finish), 16);
  EXPECT_EQ(old.type, SurfaceType::dielectric_metal);
  EXPECT_EQ(old.value, 0.5);
  EXPECT_EQ(old.properties.constant("SURFACEROUGHNESS"), 3);
  const OpticalSurface& other = scene.optics.surfaces[1];
  EXPECT_EQ(other.model, SurfaceModel::unified);
  EXPECT_EQ(other.finish, SurfaceFinish::polished_back_painted);
  EXPECT_EQ(other.type, SurfaceType::dielectric_lut_davis);
  EXPECT_DOUBLE_EQ(other.value, std::numbers::pi / 36);
}

TEST(Gdml, JoinsVolumesWithoutTheirPointers) {
  Scene scene = test::tank_scene();
  lay(scene, {"", "", R"(<opticalsurface name="S"/><opticalsurface name="B"/>)", std::string(kVolumes) + R"(
      <skinsurface name="skin" surfaceproperty="S"><volumeref ref="lvPmt0xaa"/></skinsurface>
      <bordersurface name="border" surfaceproperty="B"><physvolref ref="pvTank0xb3"/><physvolref ref="pvPmt0xb2"/></bordersurface>)"});
  resolve_optics(scene);
  EXPECT_THAT(scene.report.warnings, IsEmpty());
  EXPECT_THAT(scene.optics.skins, ElementsAre(kNone, kNone, 0, 0));
  // By the copy number, not by the name that both have.
  EXPECT_THAT(scene.optics.borders, ElementsAre(Optics::Border{1, 3, 1}));
}

TEST(Gdml, IsLaidOverALoadedScene) {
  const test::TemporaryFolder root;
  const std::filesystem::path file = root.path() / "materials.dae";
  std::filesystem::copy_file(test::data("materials.dae"), file);
  LoadOptions options;
  const std::string material(base_name(load(file, options).materials.at(0).name));
  options.optics = root.write(
      "cube.gdml",
      document({kIndex, "<material name=\"" + material + "0xff\"><property name=\"RINDEX\" ref=\"N\"/></material>", "",
                ""}));
  EXPECT_NE(load(file, options).optics.materials.at(0).table("RINDEX"), nullptr);
}

struct BrokenFile {
  std::string name;
  Parts parts;
  std::string message;
};

class BrokenGdml : public testing::TestWithParam<BrokenFile> {};

BrokenFile expression(const std::string& name, const std::string& text, const std::string& message) {
  return {name,
          {R"(<constant name="a" value=")" + text + R"("/><matrix name="N" coldim="1" values="a"/>)",
           water(R"(<property name="YIELDRATIO" ref="N"/>)"), "", ""},
          message};
}
BrokenFile table(const std::string& name, const std::string& matrix, const std::string& message) {
  return {
      name, {"<matrix name=\"N\" " + matrix + "/>", water(R"(<property name="RINDEX" ref="N"/>)"), "", ""}, message};
}
BrokenFile assigned(const std::string& name, const std::string& element, const std::string& message) {
  return {name, {"", "", "<opticalsurface name=\"S\"/>", kVolumes + element}, message};
}

const std::vector<BrokenFile> kBrokenFiles{
    expression("UnknownName", "0.5*foo", "in '0.5*foo', nothing is called 'foo' [tank.gdml: <constant> 'a']"),
    expression("Function", "sine(1)", "there is no function 'sine()'"),
    expression("Arguments", "sin(1,2)", "sin() has 2 arguments, and takes 1"),
    expression("Comma", "(1,2)", "a ',' stands outside of a function"),
    expression("Domain", "sqrt(-1)", "it is no finite number"),
    expression("Power", "2^-3", "an exponent has a sign, for which Geant4 computes another number"),
    expression("Element", "N[1]", "in a circle"),
    expression("Parenthesis", "(1+2", "a ')' is missing"),
    expression("Nothing", "", "a value is missing"),
    expression("Half", "1+", "a value is missing"),
    expression("Circle", "a+1", "in a circle"),
    expression("Deep", std::string(100, '(') + "1", "nested deeper than 64"),
    expression("Infinite", "1/0", "it is no finite number"),
    expression("Huge", "1e999", "a number is out of range"),
    table("NoPairs", R"(coldim="2" values="1 2 3")", "it has 3 values in 2 columns"),
    table("ThreeColumns", R"(coldim="3" values="1 2 3")", "coldim is 3"),
    table("Empty", R"(coldim="2" values="")", "it has 0 values"),
    table("NegativeEnergy", R"(coldim="2" values="-1 1 1 1")", "RINDEX energy -1000000 eV is not positive"),
    table("NumberForTable", R"(coldim="1" values="1")", "it is one number, and a table is expected"),
    table("List", R"(coldim="1" values="1 2")", "it is a list of 2 numbers"),
    table("UnknownMatrix", R"(coldim="1" values="1"/><matrix name="N" coldim="1" values="2")",
          "two matrices are called 'N'"),
    expression("TwoConstants", R"(1"/><constant name="twice" value="1"/><variable name="twice" value="2)",
               "two constants, quantities or variables are called 'twice'"),
    {"NoMatrix",
     {kIndex, water(R"(<property name="RINDEX" ref="NN"/>)"), "", ""},
     "it refers to 'NN', and no matrix is called so: did you mean 'N'? [tank.gdml: material 'Water0x99', RINDEX]"},
    {"NoRef", {kIndex, water(R"(<property name="RINDEX"/>)"), "", ""}, "it lacks 'ref'"},
    {"Twice",
     {kIndex, water(R"(<property name="RINDEX" ref="N"/><property name="RINDEX" ref="N"/>)"), "", ""},
     "it occurs twice"},
    {"NoModel", {"", "", R"(<opticalsurface name="S" model="unifed"/>)", ""}, "model is 'unifed'"},
    {"NoFinish", {"", "", R"(<opticalsurface name="S" finish="77"/>)", ""}, "finish is '77'"},
    {"NoType", {"", "", R"(<opticalsurface name="S" type="metal"/>)", ""}, "type is 'metal'"},
    {"TwoSurfaces",
     {"", "", R"(<opticalsurface name="S"/><opticalsurface name="S"/>)", ""},
     "two optical surfaces are called 'S'"},
    assigned("UnknownSurface",
             R"(<skinsurface name="k" surfaceproperty="SS"><volumeref ref="lvPmt0xaa"/></skinsurface>)",
             "it refers to 'SS', and no opticalsurface is called so: did you mean 'S'? [tank.gdml: skinsurface 'k']"),
    assigned("UnknownVolume", R"(<skinsurface name="k" surfaceproperty="S"><volumeref ref="lvPmt0xab"/></skinsurface>)",
             "no volume is called so: did you mean 'lvPmt0xaa'?"),
    assigned(
        "UnknownPhysvol",
        R"(<bordersurface name="k" surfaceproperty="S"><physvolref ref="pvTank"/><physvolref ref="x"/></bordersurface>)",
        "it refers to 'pvTank', and no physvol is called so"),
    assigned("OnePhysvol",
             R"(<bordersurface name="k" surfaceproperty="S"><physvolref ref="pvTank0xb3"/></bordersurface>)",
             "it needs two physvolref"),
};

TEST_P(BrokenGdml, IsRefusedByElement) {
  Scene scene = test::tank_scene();
  const Error error = test::expect_error(ErrorKind::malformed, [&] { lay(scene, GetParam().parts); });
  EXPECT_THAT(error.what(), HasSubstr(GetParam().message));
  EXPECT_EQ(error.file(), "tank.gdml");
}

INSTANTIATE_TEST_SUITE_P(All, BrokenGdml, testing::ValuesIn(kBrokenFiles),
                         [](const auto& broken) { return broken.param.name; });

TEST(Gdml, RefusesOtherDocuments) {
  Scene scene = test::tank_scene();
  const auto read = [&](const std::string& text) { detail::read_gdml(scene, text, "tank.gdml"); };
  EXPECT_THAT(test::expect_error(ErrorKind::malformed, [&] { read("<gdml>"); }).what(),
              HasSubstr("no well-formed XML"));
  EXPECT_THAT(test::expect_error(ErrorKind::malformed, [&] { read("<COLLADA/>"); }).what(), HasSubstr("no GDML"));
  const Error error = test::expect_error(ErrorKind::unsupported, [&] {
    read("<!DOCTYPE gdml [<!ENTITY materials SYSTEM \"/etc/passwd\">]><gdml>&materials;</gdml>");
  });
  EXPECT_THAT(error.what(), HasSubstr("<!ENTITY>"));
}

TEST(Gdml, LooksAtNoDefinitionThatOpticsDoNotNeed) {
  Scene scene = test::tank_scene();
  lay(scene, {R"x(<constant name="x" value="pow(2,3)"/><variable name="i" value="i+1"/>)x" + std::string(kIndex),
              water(R"(<property name="RINDEX" ref="N"/>)"), "", ""});
  EXPECT_EQ(scene.optics.materials.at(1).tables.size(), 1U);
}

}  // namespace
}  // namespace raylift
