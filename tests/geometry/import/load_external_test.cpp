// SPDX-License-Identifier: Apache-2.0
// Scenes of several COLLADA documents, with LoadOptions::external: what is read from others, in which unit and axes,
// and what is refused. Expected numbers are worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/scene/eigen.h>
#include <sys/stat.h>
#include <zip.h>
#include <zlib.h>

#include "collada_documents.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace raylift {
namespace {

namespace fs = std::filesystem;
using test::cube;
using test::document;
using test::node;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string instance(const std::string& kind, const std::string& url, const std::string& inside = "") {
  return "<instance_" + kind + " url=\"" + url + "\">" + inside + "</instance_" + kind + ">";
}

/// A document whose only node is named "box" and has this inside.
std::string placing(const std::string& inside, const std::string& asset = "", const std::string& libraries = "") {
  return document("", node("box", "", inside), asset, libraries);
}

class LoadExternal : public ::testing::Test {
 protected:
  LoadExternal() {
    options_.external = true;
    fs::create_directories(folder_.path() / "scene/parts/small");
  }
  fs::path write(const std::string& name, const std::string& text) { return folder_.write("scene/" + name, text); }
  Scene load_main(const std::string& text) { return load(write("main.dae", text), options_); }
  static void expect_box(const Scene& scene, const Eigen::Vector3d& min, const Eigen::Vector3d& max) {
    EXPECT_LT((to_eigen(scene.bounds.min) - min).cwiseAbs().maxCoeff(), 1e-9) << to_eigen(scene.bounds.min).transpose();
    EXPECT_LT((to_eigen(scene.bounds.max) - max).cwiseAbs().maxCoeff(), 1e-9) << to_eigen(scene.bounds.max).transpose();
  }
  static std::vector<std::string> files_of(const Scene& scene) {
    std::vector<std::string> names;
    for (const Scene::SourceFile& file : scene.files) names.push_back(file.path);
    return names;
  }
  Error expect_refused(ErrorKind kind, const std::string& url) {
    SCOPED_TRACE(url);
    Error error = test::expect_error(kind, [&] { (void)load_main(placing(instance("geometry", url))); });
    EXPECT_THAT(error.element(), HasSubstr("<instance_geometry url='" + url + "'>"));
    return error;
  }
  test::TemporaryFolder folder_;
  LoadOptions options_;
};

TEST_F(LoadExternal, ReadsAGeometryOfAnotherDocument) {
  write("parts/cube.dae", test::cube_document());
  const Scene scene = load_main(placing(instance("geometry", "parts/cube.dae#cube")));
  expect_box(scene, {0, 0, 0}, {1000, 1000, 1000});
  EXPECT_EQ(scene.unique_triangles(), 12U);
  EXPECT_EQ(scene.meshes.front().name, "cube");
  EXPECT_EQ(scene.solid_name(scene.instances.front()), "box");
  EXPECT_THAT(files_of(scene), ElementsAre("parts/cube.dae"));
  EXPECT_EQ(scene.files.front().bytes, test::cube_document().size());
  struct stat status {};
  ASSERT_EQ(::stat((folder_.path() / "scene/parts/cube.dae").c_str(), &status), 0);
  EXPECT_EQ(scene.files.front().changed / 1'000'000'000, status.st_ctim.tv_sec);
}

TEST_F(LoadExternal, NamesTheOptionWhereItIsNotGiven) {
  write("parts/cube.dae", test::cube_document());
  options_.external = false;
  const Error error = expect_refused(ErrorKind::unsupported, "parts/cube.dae#cube");
  EXPECT_THAT(error.problem(), HasSubstr("refers to another document"));
  EXPECT_THAT(error.advice(), HasSubstr("LoadOptions::external"));
  const std::string bound =
      "<bind_material><technique_common><instance_material symbol=\"m\" target=\"parts/cube.dae#m\"/>"
      "</technique_common></bind_material>";
  std::string text = document(cube("cube"), node("n", "", instance("geometry", "#cube", bound)));
  text.replace(text.find("<triangles "), 11, "<triangles material=\"m\" ");
  EXPECT_THAT(load_main(text).report.warnings, ElementsAre(HasSubstr("LoadOptions::external would read")));
}

TEST_F(LoadExternal, ReadsAnInstanceOnceHoweverManyDocumentsReferToIt) {
  write("parts/cube.dae", test::cube_document());
  write("parts/pair.dae",
        placing(instance("geometry", "cube.dae#cube") + instance("geometry", "../parts/./cube.dae#cube")));
  fs::create_symlink("cube.dae", folder_.path() / "scene/parts/link.dae");
  const Scene scene =
      load_main(placing(instance("node", "parts/pair.dae#box") + instance("geometry", "parts/link.dae#cube")));
  EXPECT_EQ(scene.meshes.size(), 1U);
  EXPECT_EQ(scene.instances.size(), 3U);
}

TEST_F(LoadExternal, KeepsIdsOfDocumentsApart) {
  // "cube" is 1 m here and 2 m there, "box" a node of both.
  std::string other = test::cube_document();
  for (auto at = other.find("1 "); at < other.find("</float_array>"); at = other.find("1 ", at + 1)) other[at] = '2';
  write("other.dae", other);
  const Scene scene = load_main(document(cube("cube"), node("box", "cube", instance("node", "other.dae#box"))));
  ASSERT_EQ(scene.meshes.size(), 2U);
  ASSERT_EQ(scene.instances.size(), 2U);
  EXPECT_EQ(mesh_bounds(scene.meshes[0]).max.x, 1);
  EXPECT_EQ(mesh_bounds(scene.meshes[1]).max.x, 2);
}

TEST_F(LoadExternal, HoldsTheUnitAndTheAxisOfEachDocument) {
  const std::string move = "<translate>1 2 3</translate>";
  write("parts/inch.dae",
        document(cube("cube"), node("n", "cube", move), "<unit meter=\"0.0254\"/><up_axis>Z_UP</up_axis>"));
  // The whole node, which is moved in inches and turned: Z up is Y up here, and Y there is -Z here.
  expect_box(load_main(placing(instance("node", "parts/inch.dae#n"), "<unit meter=\"0.01\"/>")), {25.4, 76.2, -76.2},
             {50.8, 101.6, -50.8});
  // The geometry alone, in a node that is moved in centimetres.
  const Scene scene = load_main(placing(move + instance("geometry", "parts/inch.dae#cube"), "<unit meter=\"0.01\"/>"));
  expect_box(scene, {10, 20, 30 - 25.4}, {35.4, 45.4, 30});
  EXPECT_EQ(scene.unit_mm, 10);
  EXPECT_EQ(scene.up_axis, UpAxis::y);
  EXPECT_THAT(scene.report.warnings, ElementsAre(AllOf(HasSubstr("parts/inch.dae"), HasSubstr("unit"))));
}

TEST_F(LoadExternal, ADocumentThatStatesNoUnitIsInMetres) {
  write("metres.dae", test::cube_document());
  expect_box(load_main(placing(instance("node", "metres.dae#box"), "<unit meter=\"0.01\"/><up_axis>Z_UP</up_axis>")),
             {0, -1000, 0}, {1000, 0, 1000});
}

TEST_F(LoadExternal, ADocumentThatIsReferredToBackKeepsItsUnit) {
  write("inch.dae",
        placing("<translate>1 0 0</translate>" + instance("geometry", "main.dae#cube"), "<unit meter=\"0.0254\"/>"));
  const Scene scene =
      load_main(document(cube("cube"), node("n", "", instance("node", "inch.dae#box")), "<unit meter=\"0.01\"/>"));
  expect_box(scene, {25.4, 0, 0}, {35.4, 10, 10});
  // Also where that one is a link: it is what the scene is loaded from.
  const fs::path main = folder_.path() / "scene/main.dae";
  fs::rename(main, folder_.path() / "elsewhere.dae");
  fs::create_symlink(folder_.path() / "elsewhere.dae", main);
  expect_box(load(main, options_), {25.4, 0, 0}, {35.4, 10, 10});
}

TEST_F(LoadExternal, WhatAnElementStatesItselfHoldsInAnotherDocumentToo) {
  std::string text = document(cube("cube"),
                              "<node id=\"n\"><asset><unit meter=\"0.001\"/></asset>"
                              "<instance_geometry url=\"#cube\"/></node>",
                              "<unit meter=\"0.0254\"/>");
  write("other.dae", text);
  // As within a document, the geometry is in the unit of the node that instances it.
  expect_box(load_main(placing(instance("node", "other.dae#n"))), {0, 0, 0}, {1, 1, 1});
}

TEST_F(LoadExternal, OptionsHoldForAllDocuments) {
  write("inch.dae", document(cube("cube"), node("n", "cube"), "<unit meter=\"0.0254\"/><up_axis>Z_UP</up_axis>"));
  options_.unit_mm = 3;
  options_.up_axis = UpAxis::x;
  expect_box(load_main(placing(instance("node", "inch.dae#n"))), {0, 0, 0}, {3, 3, 3});
}

TEST_F(LoadExternal, ReadsTheSceneOfAnotherDocument) {
  write("inch.dae", document(cube("cube"), node("n", "cube"), "<unit meter=\"0.0254\"/>"));
  std::string text = document("", "", "<unit meter=\"0.01\"/>");
  text.replace(text.find("url=\"#s\""), 8, "url=\"inch.dae#s\"");
  const Scene scene = load_main(text);
  expect_box(scene, {0, 0, 0}, {25.4, 25.4, 25.4});
  EXPECT_EQ(scene.unit_mm, 10);
}

TEST_F(LoadExternal, ReadsControllersOfOtherDocuments) {
  write("parts/cube.dae", document(cube("cube"), "", "<unit meter=\"0.0254\"/>"));
  write("skin.dae", document("", "", "<unit meter=\"0.01\"/>",
                             "<library_controllers><controller id=\"c\"><skin source=\"parts/cube.dae#cube\">"
                             "<bind_shape_matrix>1 0 0 1 0 1 0 0 0 0 1 0 0 0 0 1</bind_shape_matrix></skin>"
                             "</controller></library_controllers>"));
  // Bound at 1 cm.
  expect_box(load_main(placing(instance("controller", "skin.dae#c"))), {10, 0, 0}, {35.4, 25.4, 25.4});
}

TEST_F(LoadExternal, ReadsMaterialsAndTheirEffects) {
  const std::string effect =
      "<library_effects><effect id=\"e\"><profile_COMMON><technique sid=\"t\"><phong><diffuse><color>0 0.5 1 1</color>"
      "</diffuse></phong></technique></profile_COMMON></effect></library_effects>";
  write("effects.dae", document("", "", "", effect));
  write("parts/materials.dae", document("", "", "",
                                        "<library_materials><material id=\"unused\"/><material id=\"m\" name=\"Steel\">"
                                        "<instance_effect url=\"../effects.dae#e\"/></material></library_materials>"));
  const std::string bound =
      "<bind_material><technique_common><instance_material symbol=\"s\" target=\"parts/materials.dae#m\"/>"
      "</technique_common></bind_material>";
  std::string text = document(cube("cube"), node("n", "", instance("geometry", "#cube", bound)));
  text.replace(text.find("<triangles "), 11, "<triangles material=\"s\" ");
  const Scene scene = load_main(text);
  ASSERT_EQ(scene.material(scene.instances.front(), 0), 0U);
  EXPECT_EQ(scene.materials.at(0).name, "Steel");
  EXPECT_THAT(scene.materials.at(0).color, ElementsAre(0, 0.5F, 1, 1));
  EXPECT_EQ(scene.materials.size(), 1U);
  EXPECT_THAT(scene.report.warnings, IsEmpty());
}

TEST_F(LoadExternal, ReadsCompressedDocumentsAndThoseOfTheSameArchive) {
  const std::string text = test::cube_document();
  const auto gzip = folder_.path() / "scene/cube.dae.gz";
  const gzFile file = gzopen(gzip.c_str(), "wb");
  ASSERT_GT(gzwrite(file, text.data(), static_cast<unsigned>(text.size())), 0);
  ASSERT_EQ(gzclose(file), Z_OK);
  EXPECT_EQ(load_main(placing(instance("geometry", "cube.dae.gz#cube"))).instances.size(), 1U);

  const std::string main = placing(instance("geometry", "../parts/cube.dae#cube"));
  const auto archive = folder_.path() / "scene/scene.zae";
  zip_t* zip = zip_open(archive.c_str(), ZIP_CREATE, nullptr);
  const auto add = [&](const char* name, const std::string& content) {
    zip_file_add(zip, name, zip_source_buffer(zip, content.data(), content.size(), 0), 0);
  };
  add("main/main.dae", main);
  add("parts/cube.dae", text);
  ASSERT_EQ(zip_close(zip), 0);
  const Scene scene = load(archive, options_);
  EXPECT_EQ(scene.instances.size(), 1U);
  EXPECT_THAT(scene.files, IsEmpty());
  options_.external = false;
  (void)test::expect_error(ErrorKind::unsupported, [&] { (void)load(archive, options_); });
}

TEST_F(LoadExternal, RefusesWhatIsNotBeneathTheFolder) {
  (void)folder_.write("outside.dae", test::cube_document());
  write("cube.dae", test::cube_document());
  fs::create_symlink(folder_.path() / "outside.dae", folder_.path() / "scene/link.dae");
  fs::create_directory_symlink(folder_.path(), folder_.path() / "scene/up");
  const std::string folder = (folder_.path() / "scene").string();
  for (const std::string& url :
       {std::string("../outside.dae#cube"), std::string("parts/../../outside.dae#cube"), std::string("link.dae#cube"),
        std::string("up/outside.dae#cube"), std::string("%2e%2E/outside.dae#cube"), folder + "/cube.dae#cube",
        "file://" + folder + "/cube.dae#cube", std::string("file:cube.dae#cube"),
        std::string("http://example.org/cube.dae#cube"), std::string("//example.org/cube.dae#cube"),
        std::string("HTTP:cube.dae#cube"), std::string("..#cube")})
    EXPECT_THAT(expect_refused(ErrorKind::unsupported, url).advice(), HasSubstr("beneath the folder")) << url;
  EXPECT_EQ(load_main(placing(instance("geometry", "up/scene/cube.dae#cube"))).instances.size(), 1U);
  (void)expect_refused(ErrorKind::unsupported, "cube.dae");
}

TEST_F(LoadExternal, SaysWhichDocumentIsWrong) {
  EXPECT_THAT(expect_refused(ErrorKind::io, "none.dae#cube").problem(), HasSubstr("can't be opened"));
  write("scene.zae", "PK");
  (void)expect_refused(ErrorKind::unsupported, "scene.zae#cube");
  write("scene.obj", "v 0 0 0\n");
  (void)expect_refused(ErrorKind::unsupported, "scene.obj#cube");
  write("cube.dae", test::cube_document());
  EXPECT_THAT(expect_refused(ErrorKind::malformed, "cube.dae#sphere").problem(), HasSubstr("of that document"));
  const auto of = [&](const std::string& text, ErrorKind kind) {
    const std::string file = write("parts/broken.dae", text);
    const Error error =
        test::expect_error(kind, [&] { (void)load_main(placing(instance("geometry", "parts/broken.dae#cube"))); });
    EXPECT_EQ(error.file(), file) << error.what();
    return error;
  };
  EXPECT_THAT(of("<COLLADA>", ErrorKind::malformed).problem(), HasSubstr("not well-formed"));
  (void)of("", ErrorKind::malformed);
  std::string text = test::cube_document();
  text.replace(text.find("0 0 0 "), 1, "x");
  EXPECT_THAT(of(text, ErrorKind::malformed).element(), HasSubstr("<float_array id='a'>"));
  fs::remove(folder_.path() / "scene/parts/broken.dae");
  fs::create_directory(folder_.path() / "scene/parts/broken.dae");
  (void)test::expect_error(ErrorKind::io,
                           [&] { (void)load_main(placing(instance("geometry", "parts/broken.dae#cube"))); });
  fs::remove(folder_.path() / "scene/parts/broken.dae");
  ASSERT_EQ(::mkfifo((folder_.path() / "scene/parts/broken.dae").c_str(), 0600), 0);
  (void)test::expect_error(ErrorKind::io,
                           [&] { (void)load_main(placing(instance("geometry", "parts/broken.dae#cube"))); });
}

TEST_F(LoadExternal, FindsCyclesBetweenDocuments) {
  write("other.dae", placing(instance("node", "main.dae#box")));
  const Error error =
      test::expect_error(ErrorKind::malformed, [&] { (void)load_main(placing(instance("node", "other.dae#box"))); });
  EXPECT_THAT(error.problem(), HasSubstr("contains itself"));
  write("a.dae", document("", "", "",
                          "<library_controllers><controller id=\"c\"><skin source=\"b.dae#c\"/></controller>"
                          "</library_controllers>"));
  write("b.dae", document("", "", "",
                          "<library_controllers><controller id=\"c\"><skin source=\"a.dae#c\"/></controller>"
                          "</library_controllers>"));
  (void)test::expect_error(ErrorKind::malformed, [&] { (void)load_main(placing(instance("controller", "a.dae#c"))); });
}

TEST_F(LoadExternal, LimitsTheDocuments) {
  // A chain of eight, each placing the next.
  for (int i = 1; i != 8; ++i)
    write("d" + std::to_string(i) + ".dae",
          i == 7 ? test::cube_document() : placing(instance("node", "d" + std::to_string(i + 1) + ".dae#box")));
  const std::string main = placing(instance("node", "d1.dae#box"));
  options_.limits.documents = 8;
  EXPECT_EQ(load_main(main).instances.size(), 1U);
  options_.limits.documents = 7;
  EXPECT_THAT(test::expect_error(ErrorKind::limit, [&] { (void)load_main(main); }).advice(),
              HasSubstr("LoadLimits::documents"));
  options_.limits = {};
  options_.limits.node_depth = 4;
  EXPECT_THAT(test::expect_error(ErrorKind::limit, [&] { (void)load_main(main); }).advice(),
              HasSubstr("LoadLimits::node_depth"));
  options_.limits = {};
  options_.limits.text_bytes = 3 * test::cube_document().size();
  EXPECT_THAT(test::expect_error(ErrorKind::limit, [&] { (void)load_main(main); }).advice(),
              HasSubstr("LoadLimits::text_bytes"));
  options_.limits = {};
  options_.limits.isolate_bytes = 9 * test::cube_document().size();
  EXPECT_THAT(test::expect_error(ErrorKind::limit, [&] { (void)load_main(main); }).advice(),
              HasSubstr("LoadLimits::isolate_bytes"));
  options_.limits = {};
  const fs::path large = write("d7.dae", test::cube_document() + std::string(5000, ' '));
  options_.limits.file_bytes = 5000;
  EXPECT_EQ(test::expect_error(ErrorKind::limit, [&] { (void)load_main(main); }).file(), fs::canonical(large).string());
}

TEST_F(LoadExternal, IsReadByAnIsolatedImportToo) {
  write("parts/cube.dae", test::cube_document());
  (void)folder_.write("outside.dae", test::cube_document());
  options_.isolate = true;
  options_.import_program = test::program("raylift-import");
  if (!fs::exists(options_.import_program)) GTEST_SKIP() << "raylift-import is not beside this program";
  const Scene scene = load_main(placing(instance("geometry", "parts/cube.dae#cube")));
  EXPECT_EQ(scene.unique_triangles(), 12U);
  EXPECT_THAT(files_of(scene), ElementsAre("parts/cube.dae"));
  (void)expect_refused(ErrorKind::unsupported, "../outside.dae#cube");
  options_.external = false;
  (void)expect_refused(ErrorKind::unsupported, "parts/cube.dae#cube");
}

}  // namespace
}  // namespace raylift
