// SPDX-License-Identifier: Apache-2.0
// The structure of GDML files: what is placed where, under which name, of which material.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "gdml_scene.h"
#include "support/expect_error.h"
#include "support/same_scene.h"

namespace raylift {
namespace {

using test::at_path;
using test::expect_error;
using test::gdml_document;
using test::gdml_physvol;
using test::gdml_position;
using test::gdml_volume;
using test::GdmlParts;
using test::load_gdml;
using test::only_at;
using test::TemporaryFolder;
using test::world_point;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr double kPi = std::numbers::pi;

void expect_near(const Double3& a, const Double3& b) {
  for (int axis = 0; axis != 3; ++axis) EXPECT_NEAR(a[axis], b[axis], 1e-9) << "axis " << axis;
}

/// A world with this content, of volumes "B" (Water, box b) and "C" (Glass, box c).
GdmlParts world_with(const std::string& content, const std::string& volumes = "") {
  GdmlParts parts;
  parts.structure = gdml_volume("B", "Water", "b") + gdml_volume("C", "Glass", "c") + volumes +
                    gdml_volume("World", "Air", "w", content);
  return parts;
}

/// The world's volume "B" or "C" as one of them is rotated, scaled and placed.
Double3 placed(const std::string& placement, const Double3& local) {
  return world_point(load_gdml(world_with(gdml_physvol("p", "B", placement))), "/World_PV/p", local);
}

TEST(GdmlStructure, PlacesVolumesInVolumes) {
  const Scene scene =
      load_gdml(world_with(gdml_physvol("Outer0x1", "O0x2", gdml_position(100, 0, 0)),
                           gdml_volume("O0x2", "Water", "b", gdml_physvol("", "C", gdml_position(0, 1, 0)))));
  EXPECT_EQ(scene.format, "GDML");
  EXPECT_EQ(scene.unit_mm, 1);
  EXPECT_EQ(scene.unit_from, Scene::Provenance::convention);
  EXPECT_EQ(scene.up_axis, UpAxis::z);
  EXPECT_TRUE(scene.report.faces_checked);
  EXPECT_THAT(scene.report.warnings, IsEmpty());
  ASSERT_THAT(scene.instances, SizeIs(3));
  const Instance& world = only_at(scene, "/World_PV");
  const Instance& outer = only_at(scene, "/World_PV/Outer0x1");
  const Instance& inner = only_at(scene, "/World_PV/Outer0x1/C_PV");
  expect_near(inner.transform.point({}), {100, 1, 0});
  EXPECT_EQ(scene.volume_name(outer), "O0x2");
  EXPECT_EQ(scene.volume_name(inner), "C");
  EXPECT_EQ(scene.meshes[outer.mesh].name, "b");
  const auto name = [&](std::uint32_t material) {
    return material == kNone ? std::string("-") : scene.materials[material].name;
  };
  EXPECT_EQ(name(scene.material(world, 0)) + name(world.outside), "Air-");
  EXPECT_EQ(name(scene.material(outer, 0)) + name(outer.outside), "WaterAir");
  EXPECT_EQ(name(scene.material(inner, 0)) + name(inner.outside), "GlassWater");
  EXPECT_EQ(scene.bounds.size(), (Double3{10000, 10000, 10000}));
}

TEST(GdmlStructure, SharesMeshesAndKeepsCopyNumbers) {
  const Scene scene = load_gdml(world_with(R"(
      <physvol name="a" copynumber="7"><volumeref ref="B"/></physvol>
      <physvol name="b" copynumber="-2"><volumeref ref="B"/><position x="1" unit="cm"/></physvol>
      <physvol name="c"><volumeref ref="B"/><position x="2" unit="cm"/></physvol>)"));
  EXPECT_THAT(scene.meshes, SizeIs(2));
  EXPECT_EQ(scene.copy_number(only_at(scene, "/World_PV/a")), 7);
  EXPECT_EQ(scene.copy_number(only_at(scene, "/World_PV/b")), -2);
  EXPECT_EQ(scene.copy_number(only_at(scene, "/World_PV/c")), std::nullopt);
  EXPECT_EQ(only_at(scene, "/World_PV/a").mesh, only_at(scene, "/World_PV/c").mesh);
}

// By 90 degrees about z, and Geant4 turns by the inverse: +x goes to -y.
TEST(GdmlStructure, TurnsByTheInverse) {
  expect_near(placed(R"(<rotation z="90" unit="deg"/>)", {1, 0, 0}), {0, -1, 0});
  // R = Rz Ry Rx, here Ry Rx; the inverse takes +z by Ry(-90) to -x, and Rx leaves that.
  expect_near(placed(R"(<rotation x="90" y="90" unit="deg"/>)", {0, 0, 1}), {-1, 0, 0});
  expect_near(placed(R"(<rotation x="90" y="90" unit="deg"/><position x="5"/>)", {1, 0, 0}), {5, 1, 0});
}

TEST(GdmlStructure, ReflectsBeforeItTurns) {
  expect_near(placed(R"(<rotation z="90" unit="deg"/><scale x="-1" y="1" z="1"/>)", {1, 0, 0}), {0, 1, 0});
  const Scene scene = load_gdml(world_with(gdml_physvol("p", "B", R"(<scale x="1" y="1" z="-1"/>)")));
  EXPECT_LT(to_eigen(only_at(scene, "/World_PV/p").transform).linear().determinant(), 0);
}

TEST(GdmlStructure, RefersToDefinitions) {
  GdmlParts parts = world_with(gdml_physvol("p", "B", R"(<positionref ref="there"/><rotationref ref="turned"/>)"));
  parts.define = R"(<constant name="d" value="3"/><position name="there" x="d*2" y="d" unit="cm"/>
                    <rotation name="turned" z="pi/2"/>)";
  const Scene scene = load_gdml(parts);
  expect_near(world_point(scene, "/World_PV/p", {1, 0, 0}), {60, 29, 0});
}

// Geant4 evaluates <define> once, before any loop.
TEST(GdmlStructure, KeepsDefinedPositionsInLoops) {
  GdmlParts parts = world_with(R"(<loop for="i" from="1" to="2" step="1"><physvol name="p[i]"><volumeref ref="B"/>
      <positionref ref="there"/></physvol></loop><loop for="i" from="1" to="2" step="1"><physvol name="q[i]">
      <volumeref ref="B"/><position x="10*i"/></physvol></loop>)");
  parts.define = R"(<variable name="i" value="7"/><position name="there" x="10*i"/>)";
  const Scene scene = load_gdml(parts);
  expect_near(world_point(scene, "/World_PV/p_1"), {70, 0, 0});
  expect_near(world_point(scene, "/World_PV/q_1"), {20, 0, 0});
}

TEST(GdmlStructure, NamesAttributesThatAreNotRead) {
  GdmlParts parts = world_with(gdml_physvol("p", "X"), gdml_volume("X", "Water", "x"));
  parts.solids = R"(<box name="x" x="1" y="1" z="1" unit="cm"/>)";
  EXPECT_THAT(load_gdml(parts).report.warnings, testing::Contains(testing::HasSubstr("box 'x', unit")));
}

TEST(GdmlStructure, ComposesAssembliesOfAssemblies) {
  const Scene scene = load_gdml(
      world_with(gdml_physvol("first", "Outer", gdml_position(100, 0, 0)) +
                     gdml_physvol("second", "Outer", gdml_position(200, 0, 0) + R"(<rotation z="90" unit="deg"/>)"),
                 "<assembly name=\"Inner\">" + gdml_physvol("c", "C", gdml_position(0, 0, 3)) +
                     "</assembly><assembly name=\"Outer\">" + gdml_physvol("in", "Inner", gdml_position(10, 0, 0)) +
                     gdml_physvol("b", "B") + "</assembly>"));
  ASSERT_THAT(scene.instances, SizeIs(5));
  expect_near(world_point(scene, "/World_PV/first/in/c"), {110, 0, 3});
  expect_near(world_point(scene, "/World_PV/second/in/c"), {200, -10, 3});
  const Instance& c = only_at(scene, "/World_PV/second/in/c");
  EXPECT_EQ(scene.materials[c.outside].name, "Air");  // a daughter of the world
}

TEST(GdmlStructure, CopiesReplicasAlongAnAxis) {
  GdmlParts parts =
      world_with(gdml_physvol("m", "M"),
                 gdml_volume("M", "Air", "w",
                             R"(<replicavol number="4"><volumeref ref="B"/><replicate_along_axis><direction x="1"/>
                     <width value="2" unit="mm"/><offset value="0" unit="mm"/></replicate_along_axis></replicavol>)"));
  const Scene scene = load_gdml(parts);
  const auto copies = at_path(scene, "/World_PV/m/B_PV");
  ASSERT_THAT(copies, SizeIs(4));
  for (int i = 0; i != 4; ++i) {
    expect_near(copies[static_cast<std::size_t>(i)]->transform.point({}), {-3. + 2 * i, 0, 0});
    EXPECT_EQ(scene.copy_number(*copies[static_cast<std::size_t>(i)]), i);
  }
}

TEST(GdmlStructure, CopiesReplicasAboutZ) {
  GdmlParts parts =
      world_with(gdml_physvol("m", "M"),
                 gdml_volume("M", "Air", "w",
                             R"(<replicavol number="3"><volumeref ref="B"/><replicate_along_axis><direction phi="1"/>
                     <width value="120" unit="deg"/><offset value="30" unit="deg"/></replicate_along_axis></replicavol>)"));
  const auto scene = load_gdml(parts);
  const auto copies = at_path(scene, "/World_PV/m/B_PV");
  ASSERT_THAT(copies, SizeIs(3));
  for (std::size_t i = 0; i != 3; ++i) {
    const double phi = (90 + 120. * static_cast<double>(i)) * kPi / 180;  // their middles
    expect_near(copies[i]->transform.point({1, 0, 0}), {std::cos(phi), std::sin(phi), 0});
  }
}

TEST(GdmlStructure, MakesRingsOfReplicasAlongRho) {
  GdmlParts parts = world_with(
      gdml_physvol("m", "M"),
      gdml_volume("T", "Water", "t") +
          gdml_volume("M", "Air", "w",
                      R"(<replicavol number="3"><volumeref ref="T"/><replicate_along_axis><direction rho="1"/>
                         <width value="5" unit="mm"/><offset value="10" unit="mm"/></replicate_along_axis></replicavol>)"));
  parts.solids = R"(<tube name="t" rmin="1" rmax="2" z="8" deltaphi="360" aunit="deg"/>)";
  const Scene scene = load_gdml(parts);
  const auto copies = at_path(scene, "/World_PV/m/T_PV");
  ASSERT_THAT(copies, SizeIs(3));
  for (std::size_t i = 0; i != 3; ++i) {
    const Bounds box = mesh_bounds(scene.meshes[copies[i]->mesh]);
    EXPECT_NEAR(box.max.x, 15 + 5. * static_cast<double>(i), 0.1);
    EXPECT_FLOAT_EQ(static_cast<float>(box.size().z), 8);
    EXPECT_EQ(scene.copy_number(*copies[i]), static_cast<std::int64_t>(i));
  }
}

TEST(GdmlStructure, DividesBoxesAndTubes) {
  const std::string divided = R"(<divisionvol axis="kZAxis" number="3" width="0" offset="0" unit="mm">
                                 <volumeref ref="C"/></divisionvol>)";
  const Scene scene = load_gdml(world_with(gdml_physvol("m", "M"), gdml_volume("M", "Air", "b", divided)));
  const auto parts = at_path(scene, "/World_PV/m/C_PV");
  ASSERT_THAT(parts, SizeIs(3));
  for (std::size_t i = 0; i != 3; ++i) {
    expect_near(parts[i]->transform.point({}), {0, 0, -2. + 2 * static_cast<double>(i)});
    EXPECT_EQ(mesh_bounds(scene.meshes[parts[i]->mesh]).size(), (Double3{2, 4, 2}));
  }
  GdmlParts tube = world_with(gdml_physvol("m", "M"), gdml_volume("S", "Water", "t") + gdml_volume("M", "Air", "t", R"(
      <divisionvol axis="kPhi" number="0" width="90" offset="0" unit="deg"><volumeref ref="S"/></divisionvol>)"));
  tube.solids = R"(<tube name="t" rmin="10" rmax="20" z="8" startphi="0" deltaphi="360" aunit="deg"/>)";
  const Scene turned = load_gdml(tube);
  const auto quarters = at_path(turned, "/World_PV/m/S_PV");
  ASSERT_THAT(quarters, SizeIs(4));
  expect_near(quarters[1]->transform.point({1, 0, 0}), {0, 1, 0});
}

TEST(GdmlStructure, ReadsParameterisedBoxes) {
  const Scene scene = load_gdml(world_with(gdml_physvol("m", "M"), gdml_volume("M", "Air", "w", R"(
      <paramvol ncopies="2"><volumeref ref="B"/><parameterised_position_size>
        <parameters number="1"><position x="5"/><rotation z="90" unit="deg"/><box_dimensions x="1" y="2" z="3" lunit="cm"/></parameters>
        <parameters number="2"><position x="-5"/><box_dimensions x="4" y="5" z="6"/></parameters>
      </parameterised_position_size></paramvol>)")));
  const auto copies = at_path(scene, "/World_PV/m/B_PV");
  ASSERT_THAT(copies, SizeIs(2));
  EXPECT_EQ(mesh_bounds(scene.meshes[copies[0]->mesh]).size(), (Double3{10, 20, 30}));
  EXPECT_EQ(mesh_bounds(scene.meshes[copies[1]->mesh]).size(), (Double3{4, 5, 6}));
  expect_near(copies[0]->transform.point({1, 0, 0}), {5, -1, 0});
  EXPECT_EQ(scene.copy_number(*copies[1]), 1);
}

TEST(GdmlStructure, ReadsParametersOfOtherSolids) {
  const auto copy_of = [](const std::string& solid, const std::string& sizes) {
    GdmlParts parts = world_with(gdml_physvol("m", "M"),
                                 gdml_volume("S", "Water", "s") +
                                     gdml_volume("M", "Air", "w",
                                                 R"(
      <paramvol ncopies="1"><volumeref ref="S"/><parameterised_position_size><parameters number="1">)" +
                                                     sizes + "</parameters></parameterised_position_size></paramvol>"));
    parts.solids += solid;
    const Scene scene = load_gdml(parts);
    return mesh_bounds(scene.meshes[only_at(scene, "/World_PV/m/S_PV").mesh]).size();
  };
  const auto expect_size = [](const Double3& size, const Double3& expected) {
    for (int axis = 0; axis != 3; ++axis) EXPECT_NEAR(size[axis] / expected[axis], 1, 2e-3) << axis;
  };
  expect_size(copy_of(R"(<orb name="s" r="1"/>)", R"(<orb_dimensions r="2" lunit="cm"/>)"), {40, 40, 40});
  expect_size(copy_of(R"(<trd name="s" x1="1" x2="1" y1="1" y2="1" z="1"/>)",
                      R"(<trd_dimensions x1="2" x2="4" y1="6" y2="5" z="8"/>)"),
              {4, 6, 8});
  expect_size(copy_of(R"(<cone name="s" rmin1="0" rmax1="1" rmin2="0" rmax2="1" z="1" deltaphi="360" aunit="deg"/>)",
                      R"(<cone_dimensions rmin1="1" rmax1="3" rmin2="1" rmax2="5" z="7" deltaphi="360" aunit="deg"/>)"),
              {10, 10, 7});
  expect_size(copy_of(R"(<sphere name="s" rmin="0" rmax="1" deltaphi="360" deltatheta="180" aunit="deg"/>)",
                      R"(<sphere_dimensions rmin="1" rmax="4" deltaphi="360" deltatheta="90" aunit="deg"/>)"),
              {8, 8, 4});
  expect_size(copy_of(R"(<tube name="s" rmax="1" z="1" deltaphi="360" aunit="deg"/>)",
                      R"(<tube_dimensions InR="1" OutR="3" hz="9" StartPhi="0" DeltaPhi="360" aunit="deg"/>)"),
              {6, 6, 9});
  expect_size(
      copy_of(R"(<ellipsoid name="s" ax="1" by="1" cz="1"/>)", R"(<ellipsoid_dimensions ax="1" by="2" cz="3"/>)"),
      {2, 4, 6});
}

TEST(GdmlStructure, RunsLoops) {
  GdmlParts parts;
  parts.define =
      R"(<variable name="i" value="0"/><variable name="j" value="0"/><matrix name="m" coldim="2" values="1 10 2 20"/>)";
  parts.solids = R"x(<loop for="i" from="1" to="2" step="1"><box name="s[i]" x="i" y="m[i,2]" z="sqrt(4)"/></loop>)x";
  parts.structure =
      R"(<loop for="i" from="1" to="2" step="1">)" + gdml_volume("v[i]", "Water", "s[i]") + "</loop>" +
      gdml_volume("World", "Air", "w", R"(<loop for="i" from="1" to="2" step="1"><loop for="j" from="3" to="7" step="2">
        <physvol name="p[i,j]" copynumber="10*i+j"><volumeref ref="v[i]"/><position x="100*i" y="j"/></physvol></loop></loop>)");
  const Scene scene = load_gdml(parts);
  ASSERT_THAT(scene.instances, SizeIs(7));
  // As Geant4 names them: the numbers count from 0.
  const Instance& last = only_at(scene, "/World_PV/p_1_6");
  expect_near(last.transform.point({}), {200, 7, 0});
  EXPECT_EQ(scene.volume_name(last), "v_1");
  EXPECT_EQ(scene.copy_number(last), 27);
  EXPECT_EQ(mesh_bounds(scene.meshes[last.mesh]).size(), (Double3{2, 20, 2}));
  EXPECT_EQ(scene.copy_number(only_at(scene, "/World_PV/p_0_2")), 13);
}

// As Geant4 reads them: parts may be repeated, and stand in others.
TEST(GdmlStructure, ReadsPartsThatAreRepeated) {
  GdmlParts parts = world_with(gdml_physvol("p", "D", R"(<positionref ref="there"/>)"), gdml_volume("D", "Oil", "d"));
  parts.setup += R"(<materials><material name="Oil" Z="1"/></materials><define><constant name="k" value="7"/></define>
                    <solids><define><position name="there" x="k" y="0" z="0"/></define><box name="d" x="k" y="k" z="k"/></solids>)";
  const Scene scene = load_gdml(parts);
  expect_near(world_point(scene, "/World_PV/p"), {7, 0, 0});
  EXPECT_EQ(mesh_bounds(scene.meshes[only_at(scene, "/World_PV/p").mesh]).size().x, 7);
}

TEST(GdmlStructure, ChoosesASetup) {
  GdmlParts parts = world_with("");
  parts.setup = R"(<setup name="First" version="1.0"><world ref="B"/></setup>
                   <setup name="Other" version="1.0"><world ref="C"/></setup>)";
  EXPECT_EQ(load_gdml(parts).nodes[0].name, "B_PV");
  EXPECT_THAT(load_gdml(parts).report.warnings, ElementsAre(HasSubstr("'Other'")));
  LoadOptions options;
  options.setup = "Other";
  EXPECT_EQ(load_gdml(parts, options).nodes[0].name, "C_PV");
  EXPECT_THAT(load_gdml(parts, options).report.warnings, IsEmpty());
  options.setup = "Othr";
  EXPECT_THAT(expect_error(ErrorKind::malformed, [&] { (void)load_gdml(parts, options); }).what(),
              HasSubstr("did you mean 'Other'? ["));
  parts.setup += R"(<setup name="Default" version="1.0"><world ref="World"/></setup>)";
  EXPECT_EQ(load_gdml(parts).nodes[0].name, "World_PV");
}

TEST(GdmlStructure, TakesTheFirstOfDuplicates) {
  GdmlParts parts = world_with(gdml_physvol("p", "B"), gdml_volume("B", "Glass", "c"));
  parts.solids = R"(<box name="b" x="7" y="7" z="7"/>)";
  const Scene scene = load_gdml(parts);
  const Instance& p = only_at(scene, "/World_PV/p");
  EXPECT_EQ(scene.materials[scene.material(p, 0)].name, "Water");
  EXPECT_EQ(mesh_bounds(scene.meshes[p.mesh]).size().x, 2);
  EXPECT_THAT(scene.report.warnings, ElementsAre(HasSubstr("solids that are called as another one"),
                                                 HasSubstr("volumes that are called as another one")));
}

TEST(GdmlStructure, ListsWhatItDoesNotHonour) {
  GdmlParts parts = world_with(gdml_physvol("p", "B"), gdml_volume("S", "Water", "b", R"(
      <auxiliary auxtype="SensDet" auxvalue="PMT"/><auxiliary auxtype="Color" auxvalue="#ff0000"/>)"));
  parts.setup += R"(<userinfo><auxiliary auxtype="Region" auxvalue="r"/></userinfo><extension/>)";
  parts.structure.replace(parts.structure.find("<physvol"), 8, "<physvol color=\"red\"");
  EXPECT_THAT(load_gdml(parts).report.warnings,
              testing::UnorderedElementsAre(HasSubstr("<auxiliary> that are not read (2): 'Color', 'Region'"),
                                            HasSubstr("has an EFFICIENCY (1): 'S'"), HasSubstr("'extension'"),
                                            HasSubstr("attributes of <physvol> that are not read (1): 'color'")));
}

TEST(GdmlStructure, TakesMaterialsOfGeant4) {
  GdmlParts parts = world_with(gdml_physvol("p", "N"), gdml_volume("N", "G4_WATER", "b"));
  const Scene scene = load_gdml(parts);
  EXPECT_EQ(scene.materials[scene.material(only_at(scene, "/World_PV/p"), 0)].name, "G4_WATER");
}

TEST(GdmlStructure, LeavesOutCopiesWhoseSolidsCantBeMade) {
  const std::string division = R"(<divisionvol axis="kPhi" number="6" width="60" offset="0" unit="deg">
    <volumeref ref="C"/></divisionvol>)";
  const std::string wedge = R"(<divisionvol axis="kZAxis" number="2" width="1" offset="0" unit="mm">
    <volumeref ref="C"/></divisionvol>)";
  GdmlParts parts =
      world_with(gdml_physvol("bad", "Bad") + gdml_physvol("wedge", "Wedge") + gdml_physvol("b", "B"),
                 gdml_volume("Bad", "Water", "bad", division) + gdml_volume("Wedge", "Water", "t", wedge));
  parts.solids = R"(<tube name="bad" rmin="5" rmax="2" z="3" deltaphi="6.3"/>
                    <trd name="t" x1="5" x2="2" y1="3" y2="3" z="3"/>)";
  const Error refused = expect_error(ErrorKind::malformed, [&] { (void)load_gdml(parts); });
  EXPECT_THAT(refused.problem(), HasSubstr("rmin is 5"));
  LoadOptions options;
  options.skip_failed_solids = true;
  const Scene scene = load_gdml(parts, options);
  EXPECT_THAT(scene.instances, SizeIs(3)) << "the world, the wedge and b";
  ASSERT_THAT(scene.report.warnings, SizeIs(3));
  EXPECT_THAT(scene.report.warnings[0], HasSubstr("left out, with its copies: divisionvol in 'Bad': rmin is 5"));
  EXPECT_THAT(scene.report.warnings[1], HasSubstr("divisions of a trd along kZAxis"));
  EXPECT_THAT(scene.report.warnings[2], HasSubstr("left out, with its volumes: rmin is 5"));
  for (const std::string& warning : scene.report.warnings)
    EXPECT_THAT(warning, testing::Not(HasSubstr("skip_failed_solids"))) << "that is what was asked for";
}

TEST(GdmlStructure, LeavesOutFailedSolidsIfAsked) {
  GdmlParts parts = world_with(gdml_physvol("p", "P", gdml_position(50, 0, 0)),
                               gdml_volume("P", "Water", "bad", gdml_physvol("in", "C")));
  parts.solids = R"(<blob name="bad" x="1"/><blob name="unused"/>)";
  const Error error = expect_error(ErrorKind::unsupported, [&] { (void)load_gdml(parts); });
  EXPECT_THAT(error.what(), HasSubstr("blob 'bad'"));
  LoadOptions options;
  options.skip_failed_solids = true;
  const Scene scene = load_gdml(parts, options);
  ASSERT_THAT(scene.instances, SizeIs(2));
  EXPECT_EQ(scene.materials[only_at(scene, "/World_PV/p/in").outside].name, "Air");
  EXPECT_THAT(scene.report.warnings, ElementsAre(HasSubstr("blob 'bad'")));
}

TEST(GdmlStructure, IsTheSameFromAnIsolatedImport) {
  if (!std::filesystem::exists(test::program("raylift-import"))) GTEST_SKIP() << "raylift-import is not built";
  const TemporaryFolder folder;
  GdmlParts parts = world_with(gdml_physvol("p", "B") + R"(<physvol><file name="m.gdml"/></physvol>)");
  parts.setup =
      R"(<setup name="a" version="1"><world ref="C"/></setup><setup name="b" version="1"><world ref="World"/></setup>)";
  (void)folder.write("m.gdml", gdml_document(world_with("")));
  const auto file = folder.write("scene.gdml", gdml_document(parts));
  LoadOptions options;
  options.setup = "b";
  options.rests = true;
  const Scene here = load(file, options);
  options.isolate = true;
  const Scene there = load(file, options);
  test::expect_same(here, there);
  ASSERT_THAT(there.files, SizeIs(1));
  EXPECT_EQ(there.files[0].path, "m.gdml");
  EXPECT_TRUE(has_rests(there));
}

}  // namespace
}  // namespace raylift
