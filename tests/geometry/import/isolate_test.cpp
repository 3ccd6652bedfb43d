// SPDX-License-Identifier: Apache-2.0
// The isolated import gives the same results as one in process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <raylift/geometry/import/load.h>

#include "collada_documents.h"
#include "isolated_load.h"
#include "support/expect_error.h"
#include "support/same_scene.h"

namespace raylift {
namespace {

namespace fs = std::filesystem;
using test::expect_error;
using test::expect_same;

class Isolate : public test::IsolatedLoad {};

TEST_F(Isolate, GivesTheSameSceneAsInProcess) {
  const std::string materials =
      "<library_materials><material id=\"Gl\" name=\"Glass\"/><material id=\"St\" name=\"Steel\"/></library_materials>";
  const std::string bound =
      "<node id=\"in\"><extra><meta id=\"m\"><copyNo>-17</copyNo></meta></extra><matrix>0.1 0 0 5 0 -2 0 6 0 0 3 7 0 0 "
      "0 1</matrix>"
      "<instance_geometry url=\"#two\"><bind_material><technique_common><instance_material symbol=\"a\" "
      "target=\"#Gl\"/>"
      "<instance_material symbol=\"b\" target=\"#St\"/></technique_common></bind_material></instance_geometry></node>";
  const std::string two = test::geometry(
      "two", "0 0 0 1 0 0 0 1 0 NaN 0 0 1 0 0", 5,
      test::triangles("0 1 2 0 2 3", 2, "a") + test::triangles("0 1 4", 1, "b") +
          "<lines count=\"1\"><input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/><p>0 1</p></lines>");
  const std::string text = test::document(
      test::cube("cube") + two, test::node("out", "cube", "<scale>1 0 1</scale>" + bound),
      "<contributor><authoring_tool>a test</authoring_tool></contributor><unit meter=\"0.01\"/><up_axis>Z_UP</up_axis>",
      materials);
  path_ = folder_.write("rich.dae", text);
  options_.repair = true;
  const Scene isolated = load(path_, options_);
  options_.isolate = false;
  const Scene direct = load(path_, options_);
  expect_same(isolated, direct);
  // The options got there, and the scene is as rich as it was meant to be.
  EXPECT_EQ(direct.report.dropped_triangles, 1U);
  EXPECT_FALSE(direct.report.warnings.empty());
  EXPECT_EQ(direct.instances.size(), 2U);
  options_.isolate = true;
}

TEST_F(Isolate, PassesEveryOptionOn) {
  options_.unit_mm = 25.4;
  options_.up_axis = UpAxis::x;
  options_.weld.tolerance = 1.5;  // makes one point of the whole cube
  options_.drop_degenerate = false;
  const Scene scene = load(path_, options_);
  EXPECT_EQ(scene.unit_mm, 25.4);
  EXPECT_EQ(scene.unit_from, Scene::Provenance::option);
  EXPECT_EQ(scene.up_axis, UpAxis::x);
  EXPECT_EQ(scene.report.degenerate_triangles, 12U);
  options_.weld = {};
  options_.weld.enabled = false;
  EXPECT_EQ(load(path_, options_).unique_vertices(), 36U);
  options_.limits.triangles = 11;
  error_of(ErrorKind::limit);
}

TEST_F(Isolate, ReadsALargerSceneTheSame) {
  path_ = folder_.write("grid.dae", test::grid_document(150));
  const Scene isolated = load(path_, options_);
  options_.isolate = false;
  expect_same(isolated, load(path_, options_));
  options_.isolate = true;
}

TEST_F(Isolate, FindsFilesBesideARelativePath) {
  (void)folder_.write("paint.mtl", "newmtl Red\nKd 1 0 0\n");
  (void)folder_.write("scene.obj", "mtllib paint.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\nusemtl Red\nf 1 2 3\n");
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  const Scene scene = load("scene.obj", options_);
  fs::current_path(before);
  EXPECT_EQ(scene.materials.at(scene.material(scene.instances.at(0), 0)).name, "Red");
}

TEST_F(Isolate, GivesTheSameErrorsAsInProcess) {
  const std::vector<std::pair<std::string, std::string>> files = {
      {"a.dae", "<COLLADA"},
      {"b.dae", test::document(test::geometry("m", "0 0 0 1 0 0 0 NaN 0", 3, test::triangles("0 1 2", 1)),
                               test::node("n", "m"))},
      {"c.dae", test::document(test::cube("cube"), test::node("n", "gone"))},
      {"d.stl", "nothing of the sort"},
      {"e.zae", "nothing of the sort"}};
  for (const auto& [name, text] : files) {
    path_ = folder_.write(name, text);
    const Error isolated = expect_error(ErrorKind::malformed, [&] { (void)load(path_, options_); });
    LoadOptions direct = options_;
    direct.isolate = false;
    const Error expected = expect_error(ErrorKind::malformed, [&] { (void)load(path_, direct); });
    EXPECT_STREQ(isolated.what(), expected.what());
    EXPECT_EQ(isolated.element(), expected.element());
    EXPECT_EQ(isolated.advice(), expected.advice());
  }
}

TEST_F(Isolate, CollectsTheStagesOfTheChild) {
  std::vector<Progress::StageTime> times;
  const Progress progress([](auto, auto, auto) { return true; }, &times);
  (void)load(path_, options_, progress);
  std::vector<std::string> names;
  for (const Progress::StageTime& time : times) names.push_back(time.stage);
  for (const char* stage : {"preflight", "import", "convert", "weld"}) EXPECT_THAT(names, ::testing::Contains(stage));
}

TEST_F(Isolate, PassesProgressOn) {
  path_ = folder_.write("grid.dae", test::grid_document(200));
  std::vector<std::string> stages;
  const Progress progress([&](std::string_view stage, auto, auto) {
    stages.emplace_back(stage);
    return true;
  });
  (void)load(path_, options_, progress);
  for (const char* stage : {"preflight", "import", "convert", "weld"}) EXPECT_THAT(stages, ::testing::Contains(stage));
}

}  // namespace
}  // namespace raylift
