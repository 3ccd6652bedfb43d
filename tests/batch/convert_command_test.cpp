// SPDX-License-Identifier: Apache-2.0
// A scene as a file of another format, on the command line.
#include <gmock/gmock.h>

#include "reports.h"

namespace raylift::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class ConvertCommand : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return (folder.path() / name).string(); }
  TemporaryFolder folder;
};

TEST_F(ConvertCommand, WritesWhatIsReadAgain) {
  const nlohmann::json before = raylift({"info", "--json", data_file("detector.dae")}).one();
  for (const char* name : {"scene.dae", "scene.glb"}) {
    const Ended ended = raylift({"convert", data_file("detector.dae"), path(name)});
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, AllOf(HasSubstr("solids"), HasSubstr(name)));
    EXPECT_THAT(ended.err, HasSubstr("optics are not written"));
    const nlohmann::json after = raylift({"info", "--json", path(name)}).one();
    EXPECT_EQ(after["triangles"], before["triangles"]) << name;
    EXPECT_EQ(after["instances"], before["instances"]) << name;
  }
  const Ended cube = raylift({"convert", data_file("cube.dae"), path("cube.obj")});
  EXPECT_THAT(cube.err, IsEmpty());
  EXPECT_TRUE(std::filesystem::exists(path("cube.mtl")));
}

TEST_F(ConvertCommand, LosesNothingWhereItFails) {
  const std::string scene = path("scene.dae");
  std::filesystem::copy_file(data("cube.dae"), scene);
  const auto bytes = std::filesystem::file_size(scene);
  EXPECT_EQ(raylift({"convert", scene, scene}).code, 2) << "its own input";
  EXPECT_EQ(std::filesystem::file_size(scene), bytes);
  const Ended ending = raylift({"convert", scene, path("scene.step")});
  EXPECT_EQ(ending.code, 2);
  EXPECT_THAT(ending.err, HasSubstr("give it one of the endings .dae"));
  EXPECT_EQ(raylift({"convert", scene}).code, 2);
  EXPECT_EQ(raylift({"convert", path("absent.dae"), path("a.glb")}).code, 3);
  EXPECT_EQ(raylift({"convert", scene, path("absent/a.glb")}).code, 3);
  EXPECT_FALSE(std::filesystem::exists(path("a.glb")));
}

}  // namespace
}  // namespace raylift::test
