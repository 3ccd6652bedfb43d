// SPDX-License-Identifier: Apache-2.0
// GDML files that are wrong or hostile: each is refused by name, and quickly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "gdml_scene.h"
#include "support/expect_error.h"

namespace raylift {
namespace {

using test::expect_error;
using test::gdml_document;
using test::gdml_physvol;
using test::gdml_volume;
using test::GdmlParts;
using test::load_gdml;
using test::TemporaryFolder;
using testing::HasSubstr;
using testing::SizeIs;

struct GdmlFault {
  std::string name;
  GdmlParts parts;
  std::string message;
  ErrorKind kind = ErrorKind::malformed;
};

/// A world with this content, before it these volumes.
GdmlParts faulty(const std::string& content, const std::string& volumes = "", const std::string& solids = "") {
  GdmlParts parts;
  parts.define = R"(<variable name="i" value="1"/><constant name="k" value="2"/>)";
  parts.solids = solids;
  parts.structure = gdml_volume("B", "Water", "b") + volumes + gdml_volume("World", "Air", "w", content);
  return parts;
}

GdmlParts loop_of(const std::string& attributes) {
  return faulty("<loop " + attributes + ">" + gdml_physvol("p[i]", "B") + "</loop>");
}

GdmlParts replicas_of(const std::string& number, const std::string& along) {
  return faulty("<replicavol number=\"" + number + "\"><volumeref ref=\"B\"/><replicate_along_axis>" + along +
                "</replicate_along_axis></replicavol>");
}
GdmlParts division_of(const std::string& attributes) {
  return faulty(gdml_physvol("m", "M"),
                gdml_volume("M", "Air", "b", "<divisionvol " + attributes + "><volumeref ref=\"B\"/></divisionvol>"));
}
constexpr const char* kAlongX = R"(<direction x="1"/><width value="2" unit="mm"/>)";

const std::vector<GdmlFault> kGdmlFaults{
    {"UnitOfAnotherKind", faulty(gdml_physvol("p", "B", R"(<position x="10" unit="deg"/>)")),
     "'deg' is no unit of a length"},
    {"ParameterWithoutSize",
     faulty(R"(<paramvol ncopies="1"><volumeref ref="B"/><parameterised_position_size><parameters number="1">
         <position x="1"/><box_dimensions x="1" y="2"/></parameters></parameterised_position_size></paramvol>)"),
     "the copy box 'b_0' can't be made"},
    {"ParameterOfTwoSizes",
     faulty(R"(<paramvol ncopies="1"><volumeref ref="B"/><parameterised_position_size><parameters number="1">
         <box_dimensions x="1" y="2" z="3"/><box_dimensions x="1" y="2" z="3"/></parameters></parameterised_position_size></paramvol>)"),
     "a parameter has two sizes"},
    {"ParameterOfTwoPositions",
     faulty(R"(<paramvol ncopies="1"><volumeref ref="B"/><parameterised_position_size><parameters number="1">
         <position x="1"/><positionref ref="p"/></parameters></parameterised_position_size></paramvol>)"),
     "it has two elements <position>"},
    {"ParameterOfAPara",
     faulty(R"(<paramvol ncopies="1"><volumeref ref="P"/><parameterised_position_size><parameters number="1">
         <para_dimensions x="1" y="2" z="3"/></parameters></parameterised_position_size></paramvol>)",
            gdml_volume("P", "Water", "para"), R"(<para name="para" x="1" y="1" z="1" alpha="0" theta="0" phi="0"/>)"),
     "<para_dimensions> of a para is not read", ErrorKind::unsupported},
    {"ParameterOfAnotherSolid",
     faulty(R"(<paramvol ncopies="1"><volumeref ref="B"/><parameterised_position_size><parameters number="1">
         <orb_dimensions r="1"/></parameters></parameterised_position_size></paramvol>)"),
     "<orb_dimensions> of a box is not read", ErrorKind::unsupported},
    {"BooleanOfTwoPositions",
     faulty(gdml_physvol("u", "U"), gdml_volume("U", "Water", "u"),
            R"(<box name="b1" x="1" y="1" z="1"/><union name="u"><first ref="b1"/><second ref="b1"/><position x="1"/>
               <position x="2"/></union>)"),
     "it has two elements <position>"},
    {"BooleanOfTwoFirstRotations",
     faulty(
         gdml_physvol("u", "U"), gdml_volume("U", "Water", "u"),
         R"(<box name="b1" x="1" y="1" z="1"/><union name="u"><first ref="b1"/><second ref="b1"/><firstrotation x="1"/>
               <firstrotationref ref="r"/></union>)"),
     "it has two elements <firstrotation>"},
    {"NodeOfAnUnknownElement",
     faulty(
         gdml_physvol("u", "U"), gdml_volume("U", "Water", "u"),
         R"(<box name="b1" x="1" y="1" z="1"/><multiUnion name="u"><multiUnionNode name="n"><solid ref="b1"/><turn x="1"/>
               </multiUnionNode></multiUnion>)"),
     "it holds <turn>", ErrorKind::unsupported},
    {"RingThroughTheAxis",
     faulty(gdml_physvol("m", "M"),
            gdml_volume("T", "Water", "t") +
                gdml_volume("M", "Air", "t", R"(<replicavol number="4"><volumeref ref="T"/><replicate_along_axis>
         <direction rho="1"/><width value="1" unit="mm"/><offset value="-1" unit="mm"/></replicate_along_axis></replicavol>)"),
            R"(<tube name="t" rmax="5" z="5" deltaphi="7"/>)"),
     "has sizes of which no solid can be made"},
    {"NoVolume", faulty(gdml_physvol("p", "Bb")),
     "no volume is called 'Bb': did you mean 'B'? [FILE: physvol 'p' in volume 'World']"},
    {"NoSolid", faulty("", gdml_volume("X", "Air", "bb")),
     "no solid is called 'bb': did you mean 'b'? [FILE: volume 'X']"},
    {"NoMaterial", faulty("", gdml_volume("X", "Aire", "b")), "no material is called 'Aire': did you mean 'Air'?"},
    {"NoWorld",
     [] {
       GdmlParts parts = faulty("");
       parts.setup = R"(<setup name="a" version="1"><world ref="Wrld"/></setup>)";
       return parts;
     }(),
     "no volume is called 'Wrld': did you mean 'World'? [FILE: setup 'a']"},
    {"NoSetup",
     [] {
       GdmlParts parts = faulty("");
       parts.setup.clear();
       return parts;
     }(),
     "it has no <setup>"},
    {"Forward", faulty("", gdml_volume("X", "Air", "b", gdml_physvol("p", "Y")) + gdml_volume("Y", "Air", "b")),
     "the volume 'Y' is defined further below"},
    {"Itself", faulty("", gdml_volume("X", "Air", "b", gdml_physvol("p", "X"))), "the volume contains itself"},
    {"NoPlacement", faulty("<physvol name=\"p\"/>"), "it has neither <volumeref> nor <file>"},
    {"UnknownElement", faulty("<physvol name=\"p\"><volumeref ref=\"B\"/><turn/></physvol>"), "an element <turn>"},
    {"TwoPositions", faulty(gdml_physvol("p", "B", R"(<position x="1"/><positionref ref="q"/>)")),
     "it has two elements for its position"},
    {"NoDoctype", faulty("&more;"), "no entity is called 'more'"},
    {"CopyNumber", faulty("<physvol copynumber=\"1.5\"><volumeref ref=\"B\"/></physvol>"), "'1.5' is no whole number"},
    {"Endless", loop_of(R"(for="i" from="1" to="1" step="0")"), "from 1 to 1 by 0, it never ends [FILE: loop 'i']"},
    {"Backwards", loop_of(R"(for="i" from="3" to="1" step="-1")"), "it never runs"},
    {"Downwards", loop_of(R"(for="i" from="1" to="1" step="-1")"), "it never ends"},
    {"NoVariable", loop_of(R"(for="ii" from="1" to="2" step="1")"), "no <variable> is called 'ii': did you mean 'i'?"},
    {"Constant", loop_of(R"(for="k" from="1" to="2" step="1")"), "no <variable> is called 'k'"},
    {"NoEnd", loop_of(R"(for="i" from="1" step="1")"), "it lacks 'to'"},
    {"LongLoop", loop_of(R"(for="i" from="1" to="1e15" step="1")"), "LoadLimits::instances", ErrorKind::limit},
    {"Brackets", faulty(gdml_physvol("p[1", "B")), "the brackets of 'p[1' do not match"},
    {"ManyCopies", replicas_of("1e9", kAlongX), "it has 1000000000 copies", ErrorKind::limit},
    {"NoCopies", replicas_of("0", kAlongX), "'0' is no number of copies"},
    {"NoDirection", replicas_of("2", R"(<direction x="0.5"/><width value="2" unit="mm"/>)"),
     "no component of its direction is 1"},
    {"NoUnit", replicas_of("2", R"(<direction x="1"/><width value="2"/>)"), "it lacks 'unit'"},
    {"WrongUnit", replicas_of("2", R"(<direction x="1"/><width value="2" unit="deg"/>)"),
     "'deg' is no unit of a length"},
    {"RingsOfBoxes", replicas_of("2", R"(<direction rho="1"/><width value="2" unit="mm"/>)"),
     "along rho are read of tubes alone", ErrorKind::unsupported},
    {"NotAlone", faulty(gdml_physvol("p", "B") + R"(<replicavol number="2"><volumeref ref="B"/></replicavol>)"),
     "the mother has other daughters"},
    {"LargeDivision", division_of(R"(axis="kXAxis" number="3" width="1" offset="0" unit="mm")"),
     "its divisions are larger than the mother"},
    {"DivisionAboutZ", division_of(R"(axis="kPhi" number="3" width="0" offset="0" unit="deg")"),
     "divisions of a box along kPhi are not read", ErrorKind::unsupported},
    {"NoAxis", division_of(R"(axis="kUp" number="3" unit="mm")"), "'kUp' is no axis"},
    {"AssemblyReplica",
     faulty(R"(<replicavol number="2"><volumeref ref="A"/></replicavol>)",
            "<assembly name=\"A\">" + gdml_physvol("p", "B") + "</assembly>"),
     "'A' is an assembly"},
};

class GdmlFaults : public testing::TestWithParam<GdmlFault> {};

TEST_P(GdmlFaults, AreRefusedByName) {
  const TemporaryFolder folder;
  const auto file = folder.write("scene.gdml", gdml_document(GetParam().parts));
  const Error error = expect_error(GetParam().kind, [&] { (void)load(file); });
  std::string message = GetParam().message;
  if (const std::size_t at = message.find("FILE"); at != std::string::npos) message.replace(at, 4, file.string());
  EXPECT_THAT(error.what(), HasSubstr(message));
  EXPECT_EQ(error.file(), file.string());
}

INSTANTIATE_TEST_SUITE_P(All, GdmlFaults, testing::ValuesIn(kGdmlFaults),
                         [](const auto& fault) { return fault.param.name; });

// 1e6 copies in each of 1e6 copies in ...: known before anything is expanded.
TEST(GdmlLimits, CountCopiesOfCopies) {
  std::string volumes;
  for (int level = 0; level != 6; ++level)
    volumes += gdml_volume("V" + std::to_string(level), "Air", "b",
                           "<replicavol number=\"1e6\"><volumeref ref=\"" +
                               (level == 0 ? std::string("B") : "V" + std::to_string(level - 1)) +
                               "\"/><replicate_along_axis>" + kAlongX + "</replicate_along_axis></replicavol>");
  const Error error =
      expect_error(ErrorKind::limit, [&] { (void)load_gdml(faulty(gdml_physvol("p", "V5"), volumes)); });
  EXPECT_THAT(error.what(), HasSubstr("over 10^19 solids, and the limit is 5000000"));
}

TEST(GdmlLimits, CountAssembliesOfAssemblies) {
  std::string volumes = "<assembly name=\"A0\">" + gdml_physvol("p", "B") + "</assembly>";
  for (int level = 1; level != 60; ++level) {
    const std::string below = "A" + std::to_string(level - 1);
    volumes += "<assembly name=\"A" + std::to_string(level) + "\">" + gdml_physvol("p", below) +
               gdml_physvol("q", below) + "</assembly>";
  }
  EXPECT_THAT(
      expect_error(ErrorKind::limit, [&] { (void)load_gdml(faulty(gdml_physvol("p", "A59"), volumes)); }).what(),
      HasSubstr("the expanded scene has 576460752303423489 solids"));
}

TEST(GdmlLimits, CountElementsOfLoops) {
  LoadOptions options;
  options.limits.instances = 1000;
  const std::string turn = R"(<loop for="i" from="1" to="40" step="1">)";
  const GdmlParts parts = faulty(turn + turn + gdml_physvol("p", "B") + "</loop></loop>");
  EXPECT_THAT(expect_error(ErrorKind::limit, [&] { (void)load_gdml(parts, options); }).what(),
              HasSubstr("the loops run over more than 1000 elements"));
}

/// Volumes of which each holds the one before.
GdmlParts nested(int levels) {
  std::string volumes;
  for (int level = 0; level != levels; ++level)
    volumes += gdml_volume("V" + std::to_string(level), "Air", "b",
                           gdml_physvol("p", level == 0 ? "B" : "V" + std::to_string(level - 1)));
  return faulty(gdml_physvol("p", "V" + std::to_string(levels - 1)), volumes);
}

TEST(GdmlLimits, HoldForDepth) {
  EXPECT_THAT(load_gdml(nested(200)).instances, SizeIs(202));
  EXPECT_THAT(expect_error(ErrorKind::limit, [] { (void)load_gdml(nested(600)); }).what(),
              HasSubstr("602 levels, and the limit is 512"));
  GdmlParts parts = faulty("");
  for (int level = 0; level != 600; ++level) parts.setup = "<userinfo>" + parts.setup + "</userinfo>";
  EXPECT_THAT(expect_error(ErrorKind::limit, [&] { (void)load_gdml(parts); }).what(),
              HasSubstr("elements are nested deeper than 512"));
}

// Entities and modules
// --------------------------------------------------------------------------------------------------

std::string doctype(const std::string& entities) {
  return "<?xml version=\"1.0\"?>\n<!-- & --><!DOCTYPE gdml [" + entities + "]>\n";
}

GdmlParts with_entities(const std::string& entities, const std::string& content) {
  GdmlParts parts = faulty(content);
  parts.head = doctype(entities);
  return parts;
}

TEST(GdmlEntities, ComeFromTheFolderAndFromThemselves) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "sub");
  (void)folder.write("sub/a.xml", "<?xml version=\"1.0\"?><!-- &not; -->&more;" + gdml_physvol("p", "B"));
  (void)folder.write("sub/more.xml", gdml_physvol("q", "B"));
  const Scene scene = load(folder.write(
      "scene.gdml",
      gdml_document(with_entities("<!-- <!ENTITY n 'x'> --><!ELEMENT gdml (#PCDATA)> <!ENTITY more SYSTEM 'more.xml'>"
                                  "<!ENTITY half \"'\"> <!ENTITY a SYSTEM \"./sub/a.xml\" >\n<!ENTITY name 'r&amp;s'>",
                                  "&a;" + gdml_physvol("&name;", "B")))));
  ASSERT_THAT(scene.instances, SizeIs(4));
  EXPECT_EQ(scene.nodes[1].name, "q");
  EXPECT_EQ(scene.nodes[3].name, "r&s");
  ASSERT_THAT(scene.files, SizeIs(2));
  EXPECT_EQ(scene.files[0].path, "sub/a.xml");
  EXPECT_EQ(scene.files[1].path, "sub/more.xml");
}

TEST(GdmlEntities, AreFilesAndNoPipesOrFolders) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
  std::filesystem::create_directory(folder.path() / "folder");
  for (const std::string name : {"pipe", "folder"}) {
    const std::string text = gdml_document(with_entities("<!ENTITY a SYSTEM '" + name + "'>", "&a;"));
    const Error error = expect_error(ErrorKind::io, [&] { (void)load(folder.write("scene.gdml", text)); });
    EXPECT_THAT(error.what(), HasSubstr("no regular file"));
  }
}

TEST(GdmlEntities, AreRefusedWhereTheyHarm) {
  const auto refused = [](ErrorKind kind, const std::string& entities, const std::string& content = "&a;") {
    return std::string(expect_error(kind, [&] { (void)load_gdml(with_entities(entities, content)); }).what());
  };
  EXPECT_THAT(refused(ErrorKind::malformed, "<!ENTITY a '&b;'><!ENTITY b '&a;'>"), HasSubstr("'a' contains itself"));
  EXPECT_THAT(refused(ErrorKind::malformed, "<!ENTITY abc ''>"), HasSubstr("no entity is called 'a'"));
  EXPECT_THAT(refused(ErrorKind::malformed, "<!ENTITY a SYSTEM '/etc/passwd'>"),
              HasSubstr("no file in the scene's folder"));
  EXPECT_THAT(refused(ErrorKind::malformed, "<!ENTITY a SYSTEM '../a.xml'>"),
              HasSubstr("no file in the scene's folder"));
  EXPECT_THAT(refused(ErrorKind::malformed, "<!ENTITY a SYSTEM 'none.xml'>"), HasSubstr("there is no file 'none.xml'"));
  EXPECT_THAT(refused(ErrorKind::unsupported, "<!ENTITY % a 'x'>"), HasSubstr("parameter entities"));
  EXPECT_THAT(refused(ErrorKind::malformed, "<!ENTITY a 'x"), HasSubstr("does not end"));
  std::string bomb = "<!ENTITY a0 '<!-- lol -->'>";
  for (int level = 1; level != 16; ++level) {
    const std::string below = "&a" + std::to_string(level - 1) + ";";
    bomb += "<!ENTITY a" + std::to_string(level) + " '";
    for (int i = 0; i != 10; ++i) bomb += below;
    bomb += "'>";
  }
  EXPECT_THAT(refused(ErrorKind::limit, bomb, "&a15;"), HasSubstr("entities expand to more than"));
  std::string deep = "<!ENTITY a0 ''>";
  for (int level = 1; level != 18; ++level)
    deep += "<!ENTITY a" + std::to_string(level) + " '&a" + std::to_string(level - 1) + ";'>";
  EXPECT_THAT(refused(ErrorKind::limit, deep, "&a17;"), HasSubstr("nested deeper than 16"));
}

TEST(GdmlEntities, LeadOutOfTheFolderByNoLink) {
  const TemporaryFolder outside, folder;
  (void)outside.write("a.xml", "<!-- -->");
  std::filesystem::create_symlink(outside.path() / "a.xml", folder.path() / "a.xml");
  const auto file = folder.write("scene.gdml", gdml_document(with_entities("<!ENTITY a SYSTEM 'a.xml'>", "&a;")));
  EXPECT_THAT(expect_error(ErrorKind::malformed, [&] { (void)load(file); }).what(), HasSubstr("links are followed"));
}

TEST(GdmlModules, ArePlacedByTheirVolumes) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "parts");
  GdmlParts module = faulty(gdml_physvol("inner", "B"));
  module.define += R"(<constant name="size" value="3"/>)";
  module.solids = R"(<box name="own" x="size" y="size" z="size"/>)";
  module.structure += gdml_volume("Own", "Glass", "own");
  (void)folder.write("parts/m.gdml", gdml_document(module));
  GdmlParts parts = faulty(R"(<physvol name="whole"><file name="parts/m.gdml"/></physvol>
                              <physvol><file name="parts/m.gdml" volname="Own"/></physvol>)");
  parts.define += R"(<constant name="size" value="5"/>)";
  const Scene scene = load(folder.write("scene.gdml", gdml_document(parts)));
  ASSERT_THAT(scene.instances, SizeIs(4));
  EXPECT_EQ(mesh_bounds(scene.meshes[test::only_at(scene, "/World_PV/Own_PV").mesh]).size().x, 3);
  EXPECT_EQ(scene.volume_name(test::only_at(scene, "/World_PV/whole")), "World");
  EXPECT_EQ(scene.volume_name(test::only_at(scene, "/World_PV/whole/inner")), "B");
  EXPECT_THAT(scene.files, SizeIs(1));
  EXPECT_THAT(scene.materials, SizeIs(3));
}

TEST(GdmlModules, AreRefusedWhereTheyContainThemselves) {
  const TemporaryFolder folder;
  (void)folder.write("m.gdml", gdml_document(faulty(R"(<physvol><file name="scene.gdml"/></physvol>)")));
  const auto file = folder.write("scene.gdml", gdml_document(faulty(R"(<physvol><file name="m.gdml"/></physvol>)")));
  EXPECT_THAT(expect_error(ErrorKind::malformed, [&] { (void)load(file); }).what(),
              HasSubstr("the module 'scene.gdml' contains itself"));
  const auto none = folder.write("none.gdml", gdml_document(faulty(R"(<physvol><file name="x.gdml"/></physvol>)")));
  EXPECT_THAT(expect_error(ErrorKind::malformed, [&] { (void)load(none); }).what(),
              HasSubstr("there is no file 'x.gdml'"));
}

TEST(GdmlModules, CountAsDocuments) {
  const TemporaryFolder folder;
  std::string placed;
  for (int i = 0; i != 5; ++i) {
    const std::string name = "m" + std::to_string(i) + ".gdml";
    (void)folder.write(name, gdml_document(faulty("")));
    placed += "<physvol><file name=\"" + name + "\"/></physvol>";
  }
  const auto file = folder.write("scene.gdml", gdml_document(faulty(placed)));
  LoadOptions options;
  options.limits.documents = 5;
  EXPECT_THAT(expect_error(ErrorKind::limit, [&] { (void)load(file, options); }).what(),
              HasSubstr("more than 5 documents"));
  options.limits.documents = 6;
  EXPECT_THAT(load(file, options).instances, SizeIs(6));
}

TEST(GdmlFiles, NeedToBeXml) {
  const TemporaryFolder folder;
  EXPECT_THAT(expect_error(ErrorKind::malformed, [&] { (void)load(folder.write("a.gdml", "<gdml><define>")); }).what(),
              HasSubstr("not well-formed XML"));
  EXPECT_THAT(expect_error(ErrorKind::malformed, [&] { (void)load(folder.write("b.gdml", "<gdml/>")); }).what(),
              HasSubstr("it has no <setup>"));
}

}  // namespace
}  // namespace raylift
