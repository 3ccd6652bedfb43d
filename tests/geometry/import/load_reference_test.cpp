// SPDX-License-Identifier: Apache-2.0
// References in a COLLADA document that name the document itself, and those that name another one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <raylift/geometry/import/load.h>
#include <zlib.h>

#include "collada_documents.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace raylift {
namespace {

using ::testing::HasSubstr;

/// A cube document in which every reference has `prefix` before its '#'.
std::string references(const std::string& prefix, const std::string& id = "cube") {
  std::string text = test::document(
      test::cube(id),
      "<node id=\"n\"><instance_geometry url=\"#" + id +
          "\"><bind_material><technique_common><instance_material symbol=\"s\" target=\"#Steel\"/></technique_common>"
          "</bind_material></instance_geometry></node><node><instance_node url=\"#n\"/></node>",
      "", "<library_materials><material id=\"Steel\" name=\"Steel\"/></library_materials>");
  const std::string triangles = "<triangles ";
  text.insert(text.find(triangles) + triangles.size(), "material=\"s\" ");
  for (auto at = text.find("\"#"); at != std::string::npos; at = text.find("\"#", at + 2 + prefix.size()))
    text.insert(at + 1, prefix);
  return text;
}

class LoadReference : public ::testing::Test {
 protected:
  void expect_read(const std::string& prefix, const std::string& name = "scene.dae") {
    SCOPED_TRACE(prefix);
    const Scene scene = load(folder_.write(name, references(prefix)));
    EXPECT_EQ(scene.instances.size(), 2U);
    EXPECT_EQ(scene.bounds.max.x, 1000);
    EXPECT_EQ(scene.material(scene.instances[0], 0), 0U);
  }
  void expect_refused(const std::string& prefix) {
    SCOPED_TRACE(prefix);
    const Error error =
        test::expect_error(ErrorKind::unsupported, [&] { (void)load(folder_.write("scene.dae", references(prefix))); });
    EXPECT_THAT(error.what(), HasSubstr("another document"));
    EXPECT_THAT(error.what(), HasSubstr(prefix));
  }
  std::string folder() const { return folder_.path().string(); }
  test::TemporaryFolder folder_;
};

TEST_F(LoadReference, ADocumentMayNameItself) {
  expect_read("");
  expect_read("scene.dae");
  expect_read("./scene.dae");
  expect_read("folder/../scene.dae");
  expect_read("%73cene.dae");
  expect_read(folder() + "/scene.dae");
  expect_read("file://" + folder() + "/scene.dae");
  expect_read("file://localhost" + folder() + "/scene.dae");
  expect_read("file:" + folder() + "/scene.dae");
  expect_read("FILE://" + folder() + "/./scene.dae");
  expect_read("./a%20b%23c.dae", "a b#c.dae");
}

TEST_F(LoadReference, ADocumentIsItselfByTheNameThatItWasOpenedBy) {
  const auto real = folder_.write("real.dae", references("real.dae"));
  std::filesystem::create_symlink(real, folder_.path() / "link.dae");
  EXPECT_EQ(load(folder_.path() / "link.dae").instances.size(), 2U);
  std::filesystem::remove(folder_.path() / "link.dae");
  std::filesystem::create_symlink(folder_.write("other.dae", references("link.dae")), folder_.path() / "link.dae");
  EXPECT_EQ(load(folder_.path() / "link.dae").instances.size(), 2U);
}

TEST_F(LoadReference, ACompressedDocumentNamesItselfWithoutTheEnding) {
  const auto path = folder_.path() / "scene.dae.gz";
  const std::string text = references("scene.dae");
  const gzFile file = gzopen(path.c_str(), "wb");
  EXPECT_GT(gzwrite(file, text.data(), static_cast<unsigned>(text.size())), 0);
  EXPECT_EQ(gzclose(file), Z_OK);
  EXPECT_EQ(load(path).instances.size(), 2U);
}

TEST_F(LoadReference, AnIdMayBePercentEncodedInAReference) {
  std::string text = references("", "W\u00FCrfel");
  for (const std::string raw = "\"#W\u00FCrfel"; text.find(raw) != std::string::npos;)
    text.replace(text.find(raw), raw.size(), "\"#W%C3%BCrfel");
  EXPECT_EQ(load(folder_.write("scene.dae", text)).instances.size(), 2U);
  // And one that contains what looks like an encoding is taken as it stands first.
  EXPECT_EQ(load(folder_.write("scene.dae", references("", "a%41"))).instances.size(), 2U);
}

TEST_F(LoadReference, RefusesOtherDocuments) {
  expect_refused("other.dae");
  expect_refused("../scene.dae");
  expect_refused("sub/scene.dae");
  expect_refused("/scene.dae");
  expect_refused("http://example.org" + folder() + "/scene.dae");
  expect_refused("//example.org" + folder() + "/scene.dae");
  expect_refused("file://example.org" + folder() + "/scene.dae");
}

}  // namespace
}  // namespace raylift
