// SPDX-License-Identifier: Apache-2.0
// LoadOptions::reader: scenes by Assimp's own importers of formats of which raylift has its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>

#include <string>

#include "collada_documents.h"
#include "isolated_load.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "support/same_scene.h"

namespace raylift {
namespace {

using test::expect_error;
using test::expect_same;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

LoadOptions by_assimp() {
  LoadOptions options;
  options.reader = LoadOptions::Reader::assimp;
  return options;
}

class AssimpReader : public test::IsolatedLoad {
 protected:
  AssimpReader() { options_.reader = LoadOptions::Reader::assimp; }
};

TEST(AssimpReaders, TakeUnitAndAxisOfCollada) {
  for (const char* file : {"units_inch_y_up.dae", "units_centimetre_z_up.dae", "units_metre_x_up.dae", "units_none.dae",
                           "instances.dae"}) {
    const Scene own = load(test::data(file));
    const Scene assimp = load(test::data(file), by_assimp());
    EXPECT_EQ(assimp.unit_mm, own.unit_mm) << file;
    EXPECT_EQ(assimp.unit_from, own.unit_from) << file;
    EXPECT_EQ(assimp.up_axis, own.up_axis) << file;
    EXPECT_EQ(assimp.up_from, own.up_from) << file;
    for (int axis = 0; axis != 3; ++axis) {
      EXPECT_NEAR(assimp.bounds.min[axis], own.bounds.min[axis], 1e-9) << file;
      EXPECT_NEAR(assimp.bounds.max[axis], own.bounds.max[axis], 1e-9) << file;
    }
    EXPECT_TRUE(own.report.faces_checked);
    EXPECT_FALSE(assimp.report.faces_checked);
    EXPECT_EQ(assimp.format, "Collada Importer");
    EXPECT_THAT(assimp.report.warnings, IsEmpty()) << file;
  }
}

TEST(AssimpReaders, HonourUnitAndAxisOfTheOptions) {
  LoadOptions options = by_assimp();
  options.unit_mm = 7;
  options.up_axis = UpAxis::x;
  for (const char* file : {"units_inch_y_up.dae", "units_centimetre_z_up.dae", "units_none.dae"}) {
    const Scene scene = load(test::data(file), options);
    EXPECT_EQ(scene.unit_mm, 7) << file;
    EXPECT_EQ(scene.unit_from, Scene::Provenance::option) << file;
    EXPECT_EQ(scene.up_axis, UpAxis::x) << file;
    EXPECT_EQ(scene.up_from, Scene::Provenance::option) << file;
    for (int axis = 0; axis != 3; ++axis) EXPECT_EQ(scene.bounds.max[axis], 7) << file;
  }
}

TEST(AssimpReaders, RefuseAUnitThatIsNoLength) {
  const test::TemporaryFolder folder;
  for (const char* unit : {"0", "-1"}) {
    const auto path = folder.write("a.dae", test::document(test::cube("cube"), test::node("n", "cube"),
                                                           std::string("<unit meter=\"") + unit + "\"/>"));
    const Error error = expect_error(ErrorKind::malformed, [&] { (void)load(path, by_assimp()); });
    EXPECT_THAT(error.problem(), HasSubstr("no positive number of metres"));
  }
}

TEST(AssimpReaders, RefuseOptionsThatTheyCannotHonourBeforeTheFileIsOpened) {
  LoadOptions options = by_assimp();
  options.isolate = true;
  options.import_program = "/does/not/exist";
  for (const auto& [member, name] : {std::pair{&LoadOptions::external, "LoadOptions::external"},
                                     std::pair{&LoadOptions::strict_optics, "LoadOptions::strict_optics"}}) {
    options.*member = true;
    const Error error = expect_error(ErrorKind::usage, [&] { (void)load("/does/not/exist.dae", options); });
    EXPECT_THAT(error.problem(), HasSubstr("Assimp's importers"));
    EXPECT_EQ(error.advice(), "leave out LoadOptions::reader or " + std::string(name));
    options.*member = false;
    options.reader = LoadOptions::Reader::raylift;
    options.*member = true;
    expect_error(ErrorKind::io, [&] { (void)load("/does/not/exist.dae", options); });
    options.*member = false;
    options.reader = LoadOptions::Reader::assimp;
  }
}

TEST(AssimpReaders, WarnOfWhatTheyLeaveOut) {
  EXPECT_THAT(load(test::data("water_sphere.dae"), by_assimp()).report.warnings,
              ElementsAre(HasSubstr("<copyNo>, <property>, <opticalsurface>")));
  EXPECT_THAT(load(test::data("water_sphere.dae")).report.warnings, IsEmpty());
}

TEST(AssimpReaders, ObeyTheLimitOnPolygons) {
  const test::TemporaryFolder folder;
  const auto collada = folder.write(
      "a.dae", test::document(test::geometry("g", "0 0 0 2 0 0 3 1 0 2 2 0 0 2 0", 5,
                                             "<polylist count=\"1\"><input semantic=\"VERTEX\" source=\"#v\" "
                                             "offset=\"0\"/><vcount>5</vcount><p>0 1 2 3 4</p></polylist>"),
                              test::node("n", "g")));
  const auto off = folder.write("a.off", "OFF\n5 1 0\n0 0 0\n2 0 0\n3 1 0\n2 2 0\n0 2 0\n5 0 1 2 3 4\n");
  for (const auto& path : {collada, off}) {
    LoadOptions options = by_assimp();
    options.limits.polygon_vertices = 5;
    EXPECT_EQ(load(path, options).unique_triangles(), 3U);
    options.limits.polygon_vertices = 4;
    const Error error = expect_error(ErrorKind::limit, [&] { (void)load(path, options); });
    EXPECT_EQ(error.problem(), "a polygon of 5 vertices is beyond the limit of 4");
    EXPECT_THAT(error.advice(), HasSubstr("LoadLimits::polygon_vertices"));
  }
}

TEST(AssimpReaders, AreAdvisedAgainstWhereTheyFail) {
  const test::TemporaryFolder folder;
  const auto path = folder.write("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n");
  const Error error = expect_error(ErrorKind::malformed, [&] { (void)load(path, by_assimp()); });
  EXPECT_THAT(error.advice(), HasSubstr("leave out LoadOptions::reader")) << error.what();
}

TEST_F(AssimpReader, GivesTheSameSceneFromTheImportProcess) {
  const Scene isolated = load(path_, options_);
  EXPECT_EQ(isolated.format, "Collada Importer");
  options_.isolate = false;
  expect_same(isolated, load(path_, options_));
  options_.isolate = true;
}

TEST_F(AssimpReader, EndsInAnErrorWhereItCrashes) {
  fault("abort");  // as its assertions do; the sanitizer would catch other signals
  const Error error = error_of(ErrorKind::malformed);
  EXPECT_THAT(error.problem(), HasSubstr("it crashed"));
  EXPECT_EQ(error.advice(), "leave out LoadOptions::reader to read it by raylift's importer");
  options_.reader = LoadOptions::Reader::raylift;
  EXPECT_THAT(error_of(ErrorKind::malformed).advice(), HasSubstr("export the file in another format"));
}

}  // namespace
}  // namespace raylift
