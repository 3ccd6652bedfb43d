// SPDX-License-Identifier: Apache-2.0
// A scene as a file of another format, on the command line.
#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <iterator>

#include "run_program.h"
#include "support/effort.h"

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
    EXPECT_THAT(ended.err, IsEmpty());
    EXPECT_THAT(ended.out, HasSubstr(std::string(name) + ".optics.json"));
    const nlohmann::json after = raylift({"info", "--json", path(name)}).one();
    EXPECT_EQ(after["triangles"], before["triangles"]) << name;
    EXPECT_EQ(after["instances"], before["instances"]) << name;
  }
  const Ended cube = raylift({"convert", data_file("cube.dae"), path("cube.obj")});
  EXPECT_THAT(cube.err, IsEmpty());
  EXPECT_TRUE(std::filesystem::exists(path("cube.mtl")));
  EXPECT_FALSE(std::filesystem::exists(path("cube.obj.optics.json")));
  const Ended flat = raylift({"convert", data_file("detector.dae"), path("scene.obj")});
  EXPECT_EQ(flat.code, 0);
  EXPECT_THAT(flat.err, HasSubstr("the optics are not written"));
}

TEST_F(ConvertCommand, KeepsTheFatesOfPhotons) {
  constexpr std::size_t kPhotons = test::effort(20'000U);
  const auto run = [&](const std::string& scene, const std::string& name) {
    const Ended ended = raylift({"photons", scene, "--output", path(name), "--device", "host", "--source",
                                 "ball:0,0,0,500", "--photons", std::to_string(kPhotons), "--seed", "3", "--seq"});
    ASSERT_EQ(ended.code, 0) << ended.err;
  };
  const auto histories = [&](const std::string& name) {
    using History = std::array<std::uint64_t, 4>;
    std::string bytes = bytes_in(path(name + "/seq.npy"));
    std::vector<History> rows(kPhotons);
    EXPECT_GT(bytes.size(), rows.size() * sizeof(History));
    if (bytes.size() > rows.size() * sizeof(History))
      std::memcpy(rows.data(), bytes.data() + bytes.size() - rows.size() * sizeof(History),
                  rows.size() * sizeof(History));
    return rows;
  };
  const std::string gdml = data_file("detector.gdml");
  run(gdml, "gdml");
  const auto before = histories("gdml");
  const auto differing = [&](const std::string& name) {
    const auto after = histories(name);
    std::size_t count = 0;
    for (std::size_t i = 0; i != before.size(); ++i) count += after[i] != before[i] ? 1 : 0;
    return count;
  };
  ASSERT_EQ(raylift({"convert", gdml, path("scene.dae")}).code, 0);
  run(path("scene.dae"), "dae");
  // A photon that passes an edge within the rounding of transforms may go on another way.
  EXPECT_LT(differing("dae"), 20U);
  ASSERT_EQ(raylift({"convert", gdml, path("scene.glb")}).code, 0);
  run(path("scene.glb"), "glb");  // with y upward, so that the same photons go into other directions
  const Ended alike = raylift({"compare", path("gdml"), path("glb"), "--json"});
  EXPECT_EQ(alike.code, 0) << alike.out;
  std::filesystem::remove(path("scene.dae.optics.json"));
  EXPECT_THAT(raylift({"photons", path("scene.dae"), "--output", path("bare"), "--device", "host"}).err,
              HasSubstr("the scene has no optics"))
      << "without the sidecar";
}

TEST_F(ConvertCommand, ReplacesAnOlderSidecar) {
  ASSERT_EQ(raylift({"convert", data_file("detector.dae"), path("scene.dae")}).code, 0);
  const Ended ended = raylift({"convert", data_file("cube.dae"), path("scene.dae")});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("scene.dae.optics.json"));
  const Ended info = raylift({"info", path("scene.dae")});
  EXPECT_THAT(info.err, IsEmpty()) << "of the other scene's materials";
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
