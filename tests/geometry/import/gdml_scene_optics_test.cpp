// SPDX-License-Identifier: Apache-2.0
// The optics of a GDML scene: surfaces bind to the volumes of the same file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <raylift/geometry/optics/surface_between.h>

#include <string>

#include "gdml_scene.h"
#include "support/expect_error.h"

namespace raylift {
namespace {

using test::gdml_physvol;
using test::gdml_position;
using test::gdml_volume;
using test::GdmlParts;
using test::load_gdml;
using test::only_at;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kMatrices = R"(<matrix name="N" coldim="2" values="2e-06 1.33 3e-06 1.34"/>
    <matrix name="E" coldim="2" values="2e-06 0.2 3e-06 0.3"/><variable name="i" value="0"/>)";

GdmlParts optical(const std::string& content, const std::string& surfaces, const std::string& volumes = "") {
  GdmlParts parts;
  parts.define = kMatrices;
  parts.materials = R"(<material name="Oil0x7"><property name="RINDEX" ref="N"/><D value="1"/></material>)";
  parts.solids = R"(<opticalsurface name="S" model="unified" finish="polished" type="dielectric_metal" value="1">
                      <property name="EFFICIENCY" ref="E"/></opticalsurface>)";
  parts.structure = gdml_volume("B", "Oil0x7", "b") + volumes + gdml_volume("World", "Oil0x7", "w", content) + surfaces;
  return parts;
}
std::string border(const std::string& from, const std::string& to) {
  return "<bordersurface name=\"border\" surfaceproperty=\"S\"><physvolref ref=\"" + from + "\"/><physvolref ref=\"" +
         to + "\"/></bordersurface>";
}
std::uint32_t number_at(const Scene& scene, const std::string& path) {
  return static_cast<std::uint32_t>(&only_at(scene, path) - scene.instances.data());
}

TEST(GdmlSceneOptics, AreComparedWithTheMarksOfSensitiveDetectors) {
  const std::string mark = R"(<auxiliary auxtype="SensDet" auxvalue="PMT"/>)";
  GdmlParts parts = optical(gdml_physvol("p", "B") + gdml_physvol("q", "Marked") + gdml_physvol("r", "Both"),
                            R"(<skinsurface name="s" surfaceproperty="S"><volumeref ref="B"/></skinsurface>
                               <skinsurface name="t" surfaceproperty="S"><volumeref ref="Both"/></skinsurface>)",
                            gdml_volume("Marked", "Oil0x7", "c", mark) + gdml_volume("Both", "Oil0x7", "c", mark));
  Scene scene = load_gdml(parts);
  EXPECT_THAT(scene.report.sensitive_volumes, ElementsAre("Both", "Marked"));
  EXPECT_THAT(scene.report.warnings, Contains(HasSubstr("has an EFFICIENCY (1): 'Marked'")));
  EXPECT_THAT(scene.report.warnings, Contains(HasSubstr("does not mark as sensitive detectors (SensDet) (1): 'B'")));
  LoadOptions isolated;
  isolated.isolate = true;
  EXPECT_EQ(load_gdml(parts, isolated).report.sensitive_volumes, scene.report.sensitive_volumes);
  while (parts.structure.find(mark) != std::string::npos)
    parts.structure.erase(parts.structure.find(mark), mark.size());
  scene = load_gdml(parts);
  EXPECT_THAT(scene.report.sensitive_volumes, IsEmpty());
  EXPECT_THAT(scene.report.warnings, Not(Contains(HasSubstr("SensDet"))));
}

// As in Geant4, whose tables of surfaces keep what they have.
TEST(GdmlSceneOptics, AreTheFirstOfSeveral) {
  GdmlParts parts = optical(gdml_physvol("p", "B"), R"(
      <skinsurface name="first" surfaceproperty="S"><volumeref ref="B"/></skinsurface>
      <skinsurface name="second" surfaceproperty="T"><volumeref ref="B"/></skinsurface>)");
  parts.solids += R"(<opticalsurface name="T" model="unified" finish="ground" type="dielectric_metal" value="1"/>)";
  parts.define += R"(<matrix name="M" coldim="2" values="2e-06 1.5 3e-06 1.5"/>)";
  parts.materials += R"(<material name="Oil0x7"><property name="RINDEX" ref="M"/><D value="1"/></material>)";
  const Scene scene = load_gdml(parts);
  ASSERT_THAT(scene.optics.assignments, SizeIs(1));
  EXPECT_EQ(scene.optics.assignments[0].name, "first");
  EXPECT_EQ(scene.optics.materials.at(3).table("RINDEX")->values.front(), 1.33);
  EXPECT_THAT(scene.report.warnings, Contains(HasSubstr("'second' is another skin of 'B', and the first one holds")));
  EXPECT_THAT(scene.report.warnings, Contains(HasSubstr("the properties of the first one hold")));
}

TEST(GdmlSceneOptics, BindSkinsAndSensors) {
  const Scene scene =
      load_gdml(optical(gdml_physvol("p", "B") + gdml_physvol("q", "B", gdml_position(50, 0, 0)),
                        R"(<skinsurface name="skin" surfaceproperty="S"><volumeref ref="B"/></skinsurface>)"));
  EXPECT_THAT(scene.report.warnings, IsEmpty());
  EXPECT_EQ(scene.optics.materials.at(3).table("RINDEX")->at.front(), 2);
  const std::uint32_t p = number_at(scene, "/World_PV/p"), q = number_at(scene, "/World_PV/q");
  EXPECT_EQ(scene.optics.skins.at(p), 0U);
  EXPECT_EQ(scene.optics.skins.at(number_at(scene, "/World_PV")), kNone);
  ASSERT_THAT(scene.optics.channels, SizeIs(2));
  EXPECT_EQ(scene.optics.channels[0].solid, p);
  EXPECT_EQ(scene.optics.channels[1].solid, q);
}

TEST(GdmlSceneOptics, BindBordersByPhysicalVolumes) {
  const Scene scene = load_gdml(
      optical(gdml_physvol("p0x1", "B") + gdml_physvol("p0x2", "B", gdml_position(50, 0, 0)) + gdml_physvol("m", "M"),
              border("p0x2", "m"), gdml_volume("M", "Oil0x7", "c")));
  EXPECT_THAT(scene.report.warnings, IsEmpty());
  const Optics::Border expected{number_at(scene, "/World_PV/p0x2"), number_at(scene, "/World_PV/m"), 0};
  EXPECT_THAT(scene.optics.borders, ElementsAre(expected));
}

TEST(GdmlSceneOptics, SayHowDaughtersOfAssembliesAreCalled) {
  const GdmlParts parts = optical(gdml_physvol("a", "A"), border("av_1_impr_1_B_pv_0", "a"),
                                  "<assembly name=\"A\">" + gdml_physvol("p", "B") + "</assembly>");
  const Error error = test::expect_error(ErrorKind::malformed, [&] { (void)load_gdml(parts); });
  EXPECT_THAT(error.advice(), HasSubstr("keeps the name that its physvol has"));
}

// Geant4 takes the first of two that share a name. Copy numbers tell them apart.
TEST(GdmlSceneOptics, BindTheFirstOfOneName) {
  const auto content = [](const std::string& first, const std::string& second) {
    return "<physvol name=\"p\"" + first + "><volumeref ref=\"B\"/></physvol><physvol name=\"p\"" + second +
           "><volumeref ref=\"B\"/>" + gdml_position(50, 0, 0) + "</physvol>" + gdml_physvol("m", "M");
  };
  const std::string volume = gdml_volume("M", "Oil0x7", "c");
  const Scene one = load_gdml(optical(content(" copynumber=\"4\"", " copynumber=\"5\""), border("p", "m"), volume));
  EXPECT_THAT(one.report.warnings, IsEmpty());
  ASSERT_THAT(one.optics.borders, SizeIs(1));
  EXPECT_EQ(one.copy_number(one.instances[one.optics.borders[0].from]), 4);
  const Scene both = load_gdml(optical(content("", ""), border("p", "m"), volume));
  EXPECT_THAT(both.report.warnings,
              ElementsAre(HasSubstr("2 physical volumes are called 'p'. Geant4 takes the first")));
  EXPECT_THAT(both.optics.borders, SizeIs(2));
}

TEST(GdmlSceneOptics, FindNamesOfLoopsAndDefaults) {
  GdmlParts parts = optical(R"(<loop for="i" from="1" to="2" step="1"><physvol name="p[i]"><volumeref ref="B"/>
                                 <position x="50*i"/></physvol></loop>)" +
                                gdml_physvol("", "M"),
                            border("p_1", "M_PV"), gdml_volume("M", "Oil0x7", "c"));
  const Scene scene = load_gdml(parts);
  EXPECT_THAT(scene.report.warnings, IsEmpty());
  ASSERT_THAT(scene.optics.borders, SizeIs(1));
  EXPECT_EQ(scene.optics.borders[0].from, number_at(scene, "/World_PV/p_1"));
}

TEST(GdmlSceneOptics, AreReadInLoops) {
  GdmlParts parts = optical(R"(<loop for="i" from="1" to="2" step="1"><physvol name="p[i]"><volumeref ref="B"/>
                                 <position x="50*i"/></physvol></loop>)" +
                                gdml_physvol("", "M"),
                            R"(<loop for="i" from="1" to="2" step="1"><loop for="i" from="i" to="i" step="1">)" +
                                border("p[i]", "M_PV") + "</loop></loop>",
                            gdml_volume("M", "Oil0x7", "c"));
  parts.solids +=
      R"(<loop for="i" from="1" to="2" step="1"><opticalsurface name="loop[i]" model="unified" finish="ground"
                       type="dielectric_dielectric" value="i/4"/></loop>)";
  const Scene scene = load_gdml(parts);
  EXPECT_THAT(scene.report.warnings, ElementsAre(HasSubstr("no skin or border uses the optical surface 'loop_0'"),
                                                 HasSubstr("no skin or border uses the optical surface 'loop_1'")));
  ASSERT_THAT(scene.optics.borders, SizeIs(2));
  EXPECT_EQ(scene.optics.borders[0].from, number_at(scene, "/World_PV/p_0"));
  EXPECT_EQ(scene.optics.borders[1].from, number_at(scene, "/World_PV/p_1"));
  const auto value_of = [&](const std::string& name) {
    for (const OpticalSurface& surface : scene.optics.surfaces)
      if (surface.name == name) return surface.value;
    return -1.;
  };
  EXPECT_EQ(value_of("loop_0"), 0.25);
  EXPECT_EQ(value_of("loop_1"), 0.5);
}

TEST(GdmlSceneOptics, ComeFromModulesToo) {
  const test::TemporaryFolder folder;
  GdmlParts module = optical(gdml_physvol("p", "B"),
                             R"(<skinsurface name="skin" surfaceproperty="S"><volumeref ref="B"/></skinsurface>)");
  module.structure += border("p", "p");
  (void)folder.write("m.gdml", test::gdml_document(module));
  GdmlParts parts;
  parts.structure = gdml_volume("Top", "Air", "w", R"(<physvol name="in"><file name="m.gdml"/></physvol>)");
  parts.setup = R"(<setup name="Default" version="1.0"><world ref="Top"/></setup>)";
  const Scene scene = load(folder.write("scene.gdml", test::gdml_document(parts)));
  EXPECT_EQ(scene.optics.skins.at(number_at(scene, "/Top_PV/in/p")), 0U);
  EXPECT_THAT(scene.optics.channels, SizeIs(1));
  EXPECT_THAT(scene.report.warnings, Contains(HasSubstr("the border surface 'border' holds nowhere")));
}

TEST(GdmlSceneOptics, LieBelowASidecar) {
  const test::TemporaryFolder folder;
  const auto file = folder.write(
      "scene.gdml", test::gdml_document(
                        optical(gdml_physvol("p", "B"),
                                R"(<skinsurface name="skin" surfaceproperty="S"><volumeref ref="B"/></skinsurface>)")));
  const auto efficiency = [](const Scene& scene) {
    return scene.optics.surfaces.at(0).properties.table("EFFICIENCY")->values.front();
  };
  EXPECT_EQ(efficiency(load(file)), 0.2);
  LoadOptions options;
  options.optics = folder.write("over.gdml", R"(<gdml><define><matrix name="E" coldim="2" values="2e-06 0.5 3e-06 0.5"/>
      </define><solids><opticalsurface name="S" type="dielectric_metal"><property name="EFFICIENCY" ref="E"/>
      </opticalsurface></solids></gdml>)");
  EXPECT_EQ(efficiency(load(file, options)), 0.5);
}

// A volume outside of the world is not taken for one that differs in the pointer alone.
TEST(GdmlSceneOptics, HoldNowhereOutsideOfTheWorld) {
  const Scene scene = load_gdml(optical(
      gdml_physvol("p0x1", "B0x1"),
      R"(<skinsurface name="skin" surfaceproperty="S"><volumeref ref="B0x2"/></skinsurface>)" + border("p0x1", "p0x2"),
      gdml_volume("B0x1", "Oil0x7", "b") + gdml_volume("B0x2", "Oil0x7", "b") +
          gdml_volume("Other", "Oil0x7", "w", gdml_physvol("p0x2", "B0x2"))));
  EXPECT_THAT(scene.optics.skins, IsEmpty());
  EXPECT_THAT(scene.optics.borders, IsEmpty());
  EXPECT_THAT(scene.report.warnings, ElementsAre(HasSubstr("skinsurface 'skin' holds nowhere, as 'B0x2'"),
                                                 HasSubstr("bordersurface 'border' holds nowhere, as 'p0x2'"),
                                                 HasSubstr("no skin or border uses the optical surface 'S'")));
}

TEST(GdmlSceneOptics, ReportUnknownNames) {
  EXPECT_THAT(test::expect_error(ErrorKind::malformed,
                                 [] { (void)load_gdml(optical(gdml_physvol("pp", "B"), border("p", "World_PV"))); })
                  .what(),
              HasSubstr("no physvol is called so: did you mean 'pp'?"));
}

}  // namespace
}  // namespace raylift
