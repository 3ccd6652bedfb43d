// SPDX-License-Identifier: Apache-2.0
// load, of STEP: files that Open CASCADE's writer has made, against closed forms, and broken ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <numbers>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "import/step/body_mesh.h"
#include "import/step/step_text.h"
#include "isolated_load.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace raylift {
namespace {

using std::numbers::pi;
using test::expect_error;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

Eigen::Vector3d step_vertex(const Mesh& mesh, std::uint32_t i) {
  return {mesh.vertices[i].x, mesh.vertices[i].y, mesh.vertices[i].z};
}
double step_volume(const Mesh& mesh) {
  double six = 0;
  for (const UInt3& t : mesh.triangles)
    six += step_vertex(mesh, t.x).dot(step_vertex(mesh, t.y).cross(step_vertex(mesh, t.z)));
  return six / 6;
}
double step_area(const Mesh& mesh) {
  double twice = 0;
  for (const UInt3& t : mesh.triangles)
    twice +=
        (step_vertex(mesh, t.y) - step_vertex(mesh, t.x)).cross(step_vertex(mesh, t.z) - step_vertex(mesh, t.x)).norm();
  return twice / 2;
}
/// Whether each edge is one of two triangles, once in each direction.
bool step_closed(const Mesh& mesh) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> edges;
  for (const UInt3& t : mesh.triangles)
    for (const auto& [a, b] : {std::pair{t.x, t.y}, {t.y, t.z}, {t.z, t.x}}) ++edges[{a, b}];
  return std::all_of(edges.begin(), edges.end(), [&](const auto& edge) {
    const auto back = edges.find({edge.first.second, edge.first.first});
    return edge.second == 1 && back != edges.end() && back->second == 1;
  });
}

const Mesh& step_mesh(const Scene& scene, const std::string& name) {
  return *std::find_if(scene.meshes.begin(), scene.meshes.end(), [&](const Mesh& mesh) { return mesh.name == name; });
}

class Step : public test::IsolatedLoad {
 protected:
  void SetUp() override {
    IsolatedLoad::SetUp();
    if (!test::fs::exists(test::program("raylift-make-step")))
      GTEST_SKIP() << "Open CASCADE can't be used: raylift-make-step is missing";
    options_.isolate = false;
  }
  test::fs::path made(const std::string& kind, const std::string& unit = "MM") {
    test::fs::path path = folder_.path() / (kind + ".step");
    const std::string command =
        test::program("raylift-make-step").string() + " " + kind + " " + path.string() + " " + unit;
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return path;
  }
  Scene read(const std::string& kind, const std::string& unit = "MM") { return load(made(kind, unit), options_); }
  std::string text(const std::string& kind) {
    std::ostringstream all;
    all << std::ifstream(made(kind)).rdbuf();
    return all.str();
  }
  Scene read_text(const std::string& text) { return load(folder_.write("scene.stp", text), options_); }
  Error refuse(ErrorKind kind, const std::string& text) {
    return expect_error(kind, [&] { (void)read_text(text); });
  }
};

std::string replaced(const std::string& text, const std::string& what, const std::string& by) {
  std::string result = text;
  const std::size_t at = result.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  if (at != std::string::npos) result.replace(at, what.size(), by);
  return result;
}

TEST_F(Step, ReadsABoxWithItsNameUnitAndFrame) {
  const Scene scene = read("box");
  EXPECT_EQ(scene.format, "STEP");
  EXPECT_THAT(scene.generator, HasSubstr("Open CASCADE"));
  EXPECT_EQ(scene.unit_mm, 1);
  EXPECT_EQ(scene.unit_from, Scene::Provenance::file);
  EXPECT_EQ(scene.up_axis, UpAxis::z);
  ASSERT_THAT(scene.meshes, SizeIs(1));
  EXPECT_EQ(scene.meshes[0].name, "Brick");
  EXPECT_EQ(scene.unique_triangles(), 12U);
  EXPECT_EQ(scene.unique_vertices(), 8U);
  EXPECT_EQ(step_volume(scene.meshes[0]), 6000);
  ASSERT_THAT(scene.materials, SizeIs(1));
  EXPECT_EQ(scene.materials[0].name, "Brick");  // as the file names none
  EXPECT_TRUE(scene.report.faces_checked);
  EXPECT_THAT(scene.report.warnings, IsEmpty());
}

TEST_F(Step, PlacesAPartTwiceAsOneMeshOfItsColourAndThatOfTheUse) {
  const Scene scene = read("twice");
  ASSERT_THAT(scene.meshes, SizeIs(1));
  ASSERT_THAT(scene.instances, SizeIs(2));
  const Instance &left = scene.instances[0], &right = scene.instances[1];
  EXPECT_EQ(scene.path(left), "/twice.step/Detector/left");
  EXPECT_EQ(scene.path(right), "/twice.step/Detector/right");
  EXPECT_EQ(scene.volume_name(right), "Brick");
  const auto corner = [](const Instance& instance) -> Eigen::Vector3d {
    return to_eigen(instance.transform) * Eigen::Vector3d(10, 20, 30);
  };
  EXPECT_LT((corner(left) - Eigen::Vector3d(110, 20, 30)).norm(), 1e-9);
  EXPECT_LT((corner(right) - Eigen::Vector3d(-20, 210, 30)).norm(), 1e-9);  // turned by 90 degrees about z
  const auto color = [&](const Instance& instance) { return scene.materials[scene.material(instance, 0)].color; };
  EXPECT_THAT(color(left), ElementsAre(testing::FloatNear(0.2F, 1e-3F), testing::FloatNear(0.4F, 1e-3F),
                                       testing::FloatNear(0.6F, 1e-3F), testing::FloatNear(0.5F, 1e-3F)));
  EXPECT_NEAR(color(right)[0], 0.9, 1e-3);
  EXPECT_EQ(scene.materials[scene.material(right, 0)].name, "Brick");
}

TEST_F(Step, ConvertsInchesAndTakesAnotherUnitInstead) {
  Scene scene = read("box", "INCH");
  EXPECT_EQ(scene.unit_mm, 25.4);
  EXPECT_EQ(scene.unit_from, Scene::Provenance::file);
  EXPECT_NEAR(step_volume(scene.meshes[0]), 6000, 1e-3);  // the file's own numbers
  EXPECT_NEAR(scene.bounds.max.x, 254, 1e-4);
  EXPECT_NEAR(scene.bounds.max.z, 762, 1e-4);
  options_.unit_mm = 10;
  scene = read("box", "INCH");
  EXPECT_NEAR(scene.bounds.max.z, 300, 1e-4);
  EXPECT_EQ(scene.unit_from, Scene::Provenance::option);
}

TEST_F(Step, ReadsNestedAssembliesWhoseMeshesKeepVolumeAndArea) {
  const Scene scene = read("nested");
  ASSERT_THAT(scene.meshes, SizeIs(2));
  ASSERT_THAT(scene.instances, SizeIs(12));
  const Mesh &pipe = step_mesh(scene, "Pipe"), &ball = step_mesh(scene, "Ball");
  EXPECT_NEAR(step_volume(pipe) / (pi * (50 * 50 - 40 * 40) * 200), 1, 1e-3);
  EXPECT_NEAR(step_area(pipe) / (2 * pi * 90 * 200 + 2 * pi * (50 * 50 - 40 * 40)), 1, 1e-3);
  EXPECT_NEAR(step_volume(ball) / (4. / 3 * pi * 27'000), 1, 1e-3);
  EXPECT_NEAR(step_area(ball) / (4 * pi * 900), 1, 1e-3);
  EXPECT_TRUE(step_closed(pipe));
  EXPECT_TRUE(step_closed(ball));
  for (std::uint32_t i = 0; i != ball.vertices.size(); ++i) ASSERT_NEAR(step_vertex(ball, i).norm(), 30, 1e-4);
  // Module b is turned by 1 rad about z and moved by -500 mm along x; its second pipe is moved along z.
  const auto instance = std::find_if(scene.instances.begin(), scene.instances.end(), [&](const Instance& one) {
    return scene.path(one) == "/nested.step/Detector/module_b/pipe_1";
  });
  ASSERT_NE(instance, scene.instances.end());
  const Eigen::Vector3d at = to_eigen(instance->transform) * Eigen::Vector3d(50, 0, 10);
  EXPECT_LT((at - Eigen::Vector3d(-500 + 50 * std::cos(1.3), 50 * std::sin(1.3), 310)).norm(), 1e-9);
  std::vector<std::string> materials;
  for (const Material& material : scene.materials) materials.push_back(material.name);
  EXPECT_THAT(materials, UnorderedElementsAre("Pipe", "Glass"));
}

TEST_F(Step, KeepsTheChordThatIsAskedFor) {
  options_.fineness.chord = 0.5;
  const Scene scene = read("ring");
  const Mesh& mesh = scene.meshes[0];
  double farthest = 0;
  for (const UInt3& t : mesh.triangles) {
    const Eigen::Vector3d p = (step_vertex(mesh, t.x) + step_vertex(mesh, t.y) + step_vertex(mesh, t.z)) / 3;
    farthest = std::max(farthest, std::abs(20 - std::hypot(std::hypot(p.x(), p.y()) - 100, p.z())));
  }
  EXPECT_LT(farthest, 0.5);
  options_.fineness = {};
  const std::size_t coarse = mesh.triangles.size();
  EXPECT_GT(read("ring").meshes[0].triangles.size(), 2 * coarse);
  options_.fineness.steps = 96;
  EXPECT_GT(read("ring").meshes[0].triangles.size(), 96U * 24);
}

TEST_F(Step, MakesASolidOfEachBodyAndSaysWhatIsOpen) {
  const Scene scene = read("bodies");
  ASSERT_THAT(scene.meshes, SizeIs(3));
  EXPECT_EQ(step_volume(step_mesh(scene, "Pair_1")), 1000);
  EXPECT_NEAR(step_volume(step_mesh(scene, "Pair_2")), 125, 1e-3);
  EXPECT_EQ(scene.path(scene.instances[1]), "/bodies.step/Pair/Pair_2");
  EXPECT_EQ(scene.volume_name(scene.instances[1]), "Pair");
  EXPECT_THAT(scene.report.warnings, UnorderedElementsAre("part 'Sheet': its surface is open, so that it has no inside",
                                                          "colours of single faces are not read: of part 'Pair_1'"));
}

TEST_F(Step, ReadsTheSameInAProcessOfItsOwn) {
  const test::fs::path path = made("nested");
  const Scene here = load(path, options_);
  options_.isolate = true;
  const Scene there = load(path, options_);
  EXPECT_EQ(here.bounds.max.x, there.bounds.max.x);
  EXPECT_EQ(here.unique_triangles(), there.unique_triangles());
  EXPECT_EQ(here.instances.size(), there.instances.size());
}

TEST_F(Step, SaysWhatIsMissingWithoutTheModule) {
  const test::fs::path path = made("box");
  options_.isolate = true;
  ::setenv("RAYLIFT_STEP", (folder_.path() / "none.so").c_str(), 1);
  const Error error = expect_error(ErrorKind::unsupported, [&] { (void)load(path, options_); });
  ::unsetenv("RAYLIFT_STEP");
  EXPECT_THAT(error.what(), HasSubstr("raylift-step.so, which reads STEP by Open CASCADE, is not installed"));
}

TEST_F(Step, DecodesNames) {
  const Scene scene =
      read_text(replaced(text("box"), "PRODUCT('Brick','Brick'", R"(PRODUCT('Brick','B\X2\00E4\X0\r''s')"));
  EXPECT_EQ(scene.meshes[0].name, "B\u00e4r's");
  EXPECT_EQ(step::decoded(R"(a\X\E4b\S\dc\X4\0001F600\X0\d\\e''f\X2\12)"), "a\u00e4b\u00e4c\U0001F600d\\e'f\\X2\\12");
}

TEST_F(Step, RefusesFilesThatAreNotWhole) {
  const std::string whole = text("ring");
  EXPECT_THAT(refuse(ErrorKind::malformed, "solid").what(), HasSubstr("does not begin with ISO-10303-21"));
  for (std::size_t part = 1; part != 20; ++part) {
    const Error error = refuse(ErrorKind::malformed, whole.substr(0, part * whole.size() / 20));
    EXPECT_THAT(error.what(), testing::AnyOf(HasSubstr("the file ends before"), HasSubstr("a string does not end"),
                                             HasSubstr("has no type")));
    EXPECT_THAT(error.element(), HasSubstr("line "));
  }
  EXPECT_THAT(refuse(ErrorKind::malformed, std::regex_replace(whole, std::regex("\n#30 = [^;]*;"), "")).what(),
              HasSubstr("#30 is not in the file"));
  EXPECT_THAT(
      refuse(ErrorKind::malformed, replaced(whole, "DATA;\n", "DATA;\n#30 = DIRECTION('',(0.,0.,1.));\n")).what(),
      HasSubstr("#30 is defined twice; first in line 10"));
  EXPECT_THAT(refuse(ErrorKind::malformed, replaced(whole, "120.", "1.E999")).what(),
              HasSubstr("'1.E999' is no number"));
  EXPECT_THAT(refuse(ErrorKind::malformed, replaced(whole, "120.", "1.2.0")).what(), HasSubstr("'1.2.0' is no number"));
  EXPECT_THAT(refuse(ErrorKind::limit, replaced(whole, "DATA;\n", "DATA;\n#999 = A(" + std::string(1000, '('))).what(),
              HasSubstr("parentheses are nested more than 512 deep"));
  EXPECT_THAT(refuse(ErrorKind::malformed, replaced(whole, "DATA;\n", "DATA;\n#999 = A(1));\n")).what(),
              HasSubstr("a ')' has no '('"));
  EXPECT_THAT(refuse(ErrorKind::malformed, replaced(whole, "DATA;\n", "DATA;\n/* never")).what(),
              HasSubstr("a comment does not end"));
}

TEST_F(Step, RefusesWhatIsNotInTheFile) {
  EXPECT_THAT(refuse(ErrorKind::unsupported, replaced(text("box"), "AUTOMOTIVE_DESIGN", "IFC2X3")).what(),
              HasSubstr("the file is IFC"));
  EXPECT_THAT(refuse(ErrorKind::unsupported,
                     replaced(text("box"), "ENDSEC;\nEND-ISO",
                              "#901 = DOCUMENT_FILE('other.stp','','',#902,'','');\n#902 = DOCUMENT_TYPE('geometry');\n"
                              "#903 = APPLIED_DOCUMENT_REFERENCE(#901,'',(#5));\nENDSEC;\nEND-ISO"))
                  .what(),
              HasSubstr("it refers to another file, other.stp"));
}

TEST_F(Step, RefusesAssembliesWithoutEnd) {
  const std::string twice = text("twice");
  EXPECT_THAT(refuse(ErrorKind::malformed,
                     std::regex_replace(twice, std::regex("'2','right','',#5,#[0-9]+"), "'2','right','',#5,#5"))
                  .what(),
              HasSubstr("an assembly contains itself"));
  options_.limits.nodes = 12;
  EXPECT_THAT(refuse(ErrorKind::limit, text("nested")).what(), HasSubstr("more than 12 nodes"));
  options_.limits = {};
  options_.limits.instances = 11;
  EXPECT_THAT(refuse(ErrorKind::limit, text("nested")).what(), HasSubstr("12 solids, and the limit is 11"));
}

TEST_F(Step, SaysWhichFacesCouldNotBeRead) {
  const std::string box = text("box");
  Scene scene = read_text(std::regex_replace(box, std::regex("= PLANE\\([^;]*;"), "= CARTESIAN_POINT('',(0.,0.,0.));",
                                             std::regex_constants::format_first_only));
  EXPECT_THAT(scene.report.warnings, testing::Contains(HasSubstr("faces that could not be read: 1; the first is #17")));
  EXPECT_THAT(scene.report.warnings, testing::Contains(HasSubstr("part 'Brick': its surface is open")));
  EXPECT_FALSE(scene.report.faces_checked);
  scene = read_text(replaced(box, "ADVANCED_FACE(", "ADVANCED_FACES("));
  EXPECT_THAT(scene.report.warnings, testing::Contains(HasSubstr("the first is a ADVANCED_FACES")));
  EXPECT_THAT(refuse(ErrorKind::malformed, replaced(text("ring"), "TOROIDAL_SURFACE", "TOROID")).what(),
              HasSubstr("nothing is left but faces that could not be read: 1"));
}

TEST_F(Step, LeavesOutPartsThatCannotBeMadeWhereThatIsAskedFor) {
  const std::string huge =
      std::regex_replace(text("nested"), std::regex("(SPHERICAL_SURFACE\\('',#[0-9]+),30\\."), "$1,1.E300");
  const Error error = refuse(ErrorKind::malformed, huge);
  EXPECT_THAT(error.element(), HasSubstr("part 'Ball'"));
  EXPECT_THAT(error.what(), HasSubstr("its shape can't be made"));
  options_.skip_failed_solids = true;
  const Scene scene = read_text(huge);
  EXPECT_THAT(scene.instances, SizeIs(6));
  EXPECT_THAT(scene.report.warnings, testing::Contains(HasSubstr("left out: its shape can't be made")));
}

// The checks of meshes, by a library whose meshes the test sets
// --------------------------------------------------------

class OneCube : public step::Model {
 public:
  OneCube() {
    contents_.products.push_back({"Cube", "", std::nullopt, {step::Body{}}, {}});
    for (std::uint32_t i = 0; i != 8; ++i)
      mesh_.surface.vertices.push_back({i & 1U ? 1. : 0., i & 2U ? 1. : 0., i & 4U ? 1. : 0.});
    mesh_.surface.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                               {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  }
  [[nodiscard]] const step::Contents& contents() const override { return contents_; }
  [[nodiscard]] double size(std::uint32_t, std::uint32_t) const override { return std::sqrt(3.); }
  [[nodiscard]] double volume(std::uint32_t, std::uint32_t) const override { return volume_; }
  [[nodiscard]] double area(std::uint32_t, std::uint32_t) const override { return 6; }
  [[nodiscard]] step::BodyMesh mesh(std::uint32_t, std::uint32_t, const gdml::occt::Meshing&) const override {
    return mesh_;
  }
  [[nodiscard]] bool has_colored_faces(std::uint32_t, std::uint32_t) const override { return false; }

  step::Contents contents_;
  step::BodyMesh mesh_;
  double volume_ = 1;
};

TEST(StepMesh, IsCheckedForClosedOutwardAndWholeSurfaces) {
  OneCube model;
  EXPECT_THAT(step::make_body_mesh(model, 0, 0, {}).faults, IsEmpty());

  for (UInt3& t : model.mesh_.surface.triangles) std::swap(t.y, t.z);
  step::MadeMesh made = step::make_body_mesh(model, 0, 0, {});
  EXPECT_THAT(made.faults, ElementsAre("its faces look inwards, and were turned"));
  EXPECT_THAT(step::make_body_mesh(OneCube(), 0, 0, {}).surface.triangles, SizeIs(made.surface.triangles.size()));

  model = OneCube();
  model.volume_ = 1.1;
  EXPECT_THAT(step::make_body_mesh(model, 0, 0, {}).faults,
              ElementsAre("its triangles enclose 1 mm3, and its faces 1.1 mm3"));

  model = OneCube();
  model.mesh_.surface.triangles.pop_back();
  model.mesh_.bare_faces = 1;
  made = step::make_body_mesh(model, 0, 0, {});
  EXPECT_THAT(made.faults, ElementsAre("1 of its faces could not be cut into triangles",
                                       "its surface is open, so that it has no inside"));
  EXPECT_FALSE(made.complete);

  model.mesh_.surface.triangles.clear();
  EXPECT_THROW((void)step::make_body_mesh(model, 0, 0, {}), step::Failure);
}

}  // namespace
}  // namespace raylift
