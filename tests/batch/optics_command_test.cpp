// SPDX-License-Identifier: Apache-2.0
// Optics on the command line: which file is laid over a scene, what is said of it, what is written and drawn.
#include <gmock/gmock.h>

#include "reports.h"

namespace raylift::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kSidecar = R"({"raylift_optics": 1,
    "materials": {"water": {"RINDEX": {"wavelength_nm": [300, 600], "values": [1.35, 1.33]}, "MYKEY": 7},
                  "glass": {"RINDEX": {"energy_eV": [2, 4], "values": [1.5, 1.5]}}},
    "surfaces": {"Cathode": {"model": "simple", "properties": {
        "DETECT": {"wavelength_nm": [300, 600], "values": [0.25, 0.1]}}}},
    "assignments": [{"name": "cathodes", "surface": "Cathode", "skin": {"solid": "first"}}],
    "channel_types": {"tube": {}}, "channels": [{"solids": {}, "type": "tube", "first": 5}]})";

class OpticsCommand : public testing::Test {
 protected:
  OpticsCommand() { std::filesystem::copy_file(data("materials.dae"), scene); }
  void put_beside(const std::string& text = kSidecar) const { (void)folder.write("materials.optics.json", text); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder.path() / name).string(); }
  [[nodiscard]] std::string text_of(const std::string& name) const { return bytes_in(path(name)); }

  TemporaryFolder folder;
  std::string scene = path("materials.dae");
};

TEST_F(OpticsCommand, IsListed) {
  put_beside();
  const Ended ended = raylift({"info", "--list-optics", scene});
  EXPECT_EQ(ended.code, 0);
  for (const char* word :
       {"materials.optics.json", "1.33 .. 1.35", "300 .. 600", "309.96 .. 619.921", "1 solid: first",
        "3 solids detect, channels 5 to 7", "cathodes", "solid first", "optical properties that are not honoured"})
    EXPECT_THAT(ended.out, HasSubstr(word));
  EXPECT_THAT(ended.err, HasSubstr("MYKEY is not honoured"));
  const Ended plain = raylift({"info", scene});
  EXPECT_THAT(plain.out, AllOf(HasSubstr("MYKEY"), HasSubstr("materials.optics.json"), Not(HasSubstr("1.33 .. 1.35"))));

  const json info = raylift({"info", "--json", "--list-optics", scene}).one();
  EXPECT_EQ(info["optics_file"], path("materials.optics.json"));
  ASSERT_EQ(info["unhonoured"].size(), 1U);
  EXPECT_EQ(info["unhonoured"][0]["key"], "MYKEY");
  EXPECT_EQ(info["optics"]["surfaces"][0]["used_by"]["solids"], 1);
  EXPECT_EQ(info["optics"]["assignments"][0]["holds_on"]["names"], json::array({"first"}));
  EXPECT_EQ(info["optics"]["channels"], 3);
}

TEST_F(OpticsCommand, MayBeAnotherFileOrNone) {
  put_beside();
  const std::string other = folder.write("other.json", R"({"raylift_optics": 1, "surfaces": {"Other": {}}})").string();
  EXPECT_EQ(raylift({"info", "--json", "--optics", other, scene}).one()["optics_file"], other);
  EXPECT_EQ(raylift({"info", "--json", "--list-optics", "--optics", "off", scene}).one()["optics_file"], nullptr);
  EXPECT_THAT(raylift({"check", "--optics", other, scene, "--no-overlaps"}).err,
              HasSubstr("the optical surface 'Other'"));
  EXPECT_THAT(raylift({"check", "--optics", "off", scene, "--no-overlaps"}).err, IsEmpty());
}

TEST_F(OpticsCommand, IsRefusedWhereItIsNotHonoured) {
  put_beside();
  for (const char* command : {"info", "check", "cache"}) {
    const Ended ended = raylift({command, "--strict-optics", scene});
    EXPECT_EQ(ended.code, 5) << command;
    EXPECT_THAT(ended.err, HasSubstr("1 optical property is not honoured: material 'water': MYKEY"));
  }
}

TEST_F(OpticsCommand, IsExportedAndReadsBackTheSame) {
  put_beside();
  EXPECT_EQ(raylift({"optics", "export", scene, "-o", path("a.json")}).code, 0);
  EXPECT_EQ(raylift({"optics", "export", "--optics", path("a.json"), scene, "-o", path("b.json")}).code, 0);
  EXPECT_EQ(text_of("a.json"), text_of("b.json"));
  EXPECT_EQ(text_of("a.json"), raylift({"optics", "export", scene}).out);
  EXPECT_EQ(json::parse(text_of("a.json"))["materials"]["water"]["RINDEX"]["values"], json({1.35, 1.33}));

  (void)folder.write("kept.json", "kept");
  EXPECT_EQ(raylift({"optics", "export", "--optics", path("none.json"), scene, "-o", path("kept.json")}).code, 3);
  EXPECT_EQ(text_of("kept.json"), "kept");
  EXPECT_EQ(raylift({"optics", "export", scene, "-o", path("nowhere/a.json")}).code, 3);
  EXPECT_EQ(raylift({"optics", scene}).code, 2);
}

TEST_F(OpticsCommand, IsInABatchsRowsAndItsFileIsAPartOfTheSource) {
  put_beside();
  const auto batch = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"batch", "--do", "info", "--report", path("report.jsonl"), scene});
    return raylift(std::move(more));
  };
  EXPECT_EQ(batch({}).code, 0);
  const json row = rows_of(path("report.jsonl")).at(0);
  EXPECT_EQ(row["unhonoured"][0]["owner"], "water");
  EXPECT_EQ(row["info"]["optics_file"], path("materials.optics.json"));
  EXPECT_EQ(batch({"--resume"}).code, 0);
  put_beside(R"({"raylift_optics": 1})");
  const Ended changed = batch({"--resume"});
  EXPECT_EQ(changed.code, 2);
  EXPECT_THAT(changed.err, HasSubstr("1 scene has changed since"));
  EXPECT_EQ(batch({"--resume", "--retry", "changed"}).code, 0);
  EXPECT_FALSE(rows_of(path("report.jsonl")).at(0).contains("unhonoured"));
  EXPECT_THAT(batch({"--resume", "--strict-optics"}).err, HasSubstr("another --strict-optics"));
}

/// What draws is found by $PATH.
TEST_F(OpticsCommand, IsDrawnByWhatIsInstalled) {
  put_beside();
  const auto plot = [&](const std::string& programs) {
    return raylift({"info", "--plot", path("plots"), scene},
                   {{"PATH=" + programs, "PYTHONPATH=" + path("modules")}, {}});
  };
  std::filesystem::create_directory(path("modules"));
  (void)folder.write("modules/matplotlib.py", "raise ImportError('not installed')");
  std::filesystem::create_directory(path("bin"));
  const Ended no_python = plot(path("bin"));
  EXPECT_EQ(no_python.code, 11) << no_python.err;
  EXPECT_THAT(no_python.err, HasSubstr("Python, which is not installed"));
  std::filesystem::create_symlink("/usr/bin/python3", path("bin/python3"));
  const Ended neither = plot(path("bin"));
  EXPECT_EQ(neither.code, 11) << neither.err;
  EXPECT_THAT(neither.err, HasSubstr("neither is installed; install python3-matplotlib"));

  // A gnuplot that writes its commands into the output file that they name.
  const auto fake = folder.write("bin/gnuplot",
                                 "#!/bin/sh\nset -e\ntext=$(cat)\nfile=$(printf '%s\\n' \"$text\" | "
                                 "sed -n \"s/^set output '\\(.*\\)'/\\1/p\")\nprintf '%s\\n' \"$text\" > \"$file\"\n");
  std::filesystem::permissions(fake, std::filesystem::perms::owner_all);
  const Ended drawn = plot(path("bin") + ":/usr/bin:/bin");
  ASSERT_EQ(drawn.code, 0) << drawn.err;
  EXPECT_THAT(drawn.err, HasSubstr("3 tables drawn in"));
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path("plots"))) names.push_back(entry.path().filename());
  EXPECT_THAT(names, testing::UnorderedElementsAre("material_water_RINDEX.svg", "material_glass_RINDEX.svg",
                                                   "surface_Cathode_DETECT.svg"));
  EXPECT_THAT(text_of("plots/surface_Cathode_DETECT.svg"), AllOf(HasSubstr("\n300 0.25\n"), HasSubstr("600 0.1\n")));
  EXPECT_EQ(raylift({"info", "--plot", path("plots"), scene, scene}).code, 2);
}

// By the file's identity: another name and a link are no way around.
TEST_F(OpticsCommand, OverwritesNoInput) {
  put_beside();
  std::filesystem::create_symlink(scene, path("link.png"));
  std::filesystem::create_hard_link(scene, path("hard.png"));
  std::filesystem::create_hard_link(path("materials.optics.json"), path("hard.json"));
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"optics", "export", scene, "-o", scene},
        {"optics", "export", scene, "-o", path("./../" + folder.path().filename().string() + "/materials.dae")},
        {"optics", "export", scene, "-o", path("hard.json")},
        {"trace", scene, "--image", path("hard.png")},
        {"trace", scene, "--image", path("link.png")}}) {
    const std::string before = text_of("materials.dae");
    const Ended ended = raylift(arguments);
    EXPECT_EQ(ended.code, 2) << arguments.back();
    EXPECT_THAT(ended.err, AllOf(HasSubstr("which would be lost"), HasSubstr("name another file")));
    EXPECT_EQ(text_of("materials.dae"), before);
  }
  // ".." after a link is not what it looks like.
  std::filesystem::create_directories(path("real/deep"));
  std::filesystem::create_symlink(path("real/deep"), path("dl"));
  std::filesystem::copy_file(scene, path("real/x.dae"));
  const std::string copied = text_of("real/x.dae");
  EXPECT_EQ(raylift({"optics", "export", path("dl/../x.dae"), "-o", path("real/x.dae")}).code, 2);
  EXPECT_EQ(text_of("real/x.dae"), copied);
  // Columns that a sidecar refers to.
  std::filesystem::create_directory(path("t"));
  (void)folder.write("t/r.csv", "300,1.5\n600,1.4\n");
  (void)folder.write("csv.json", R"({"raylift_optics": 1, "materials": {"*": {
      "RINDEX": {"csv": "t/r.csv", "wavelength_nm": 1, "values": 2}}}})");
  EXPECT_EQ(raylift({"optics", "export", scene, "--optics", path("csv.json"), "-o", path("t/r.csv")}).code, 2);
  EXPECT_EQ(text_of("t/r.csv"), "300,1.5\n600,1.4\n");
  // What the scene's file refers to is known once it is read.
  (void)folder.write("with.obj", "mtllib with.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl M\nf 1 2 3\n");
  (void)folder.write("with.mtl", "newmtl M\n");
  std::filesystem::create_hard_link(path("with.mtl"), path("mtl.png"));
  const Ended ended = raylift({"trace", path("with.obj"), "--width", "4", "--height", "4", "--image", path("mtl.png")});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("which would be lost"));
  EXPECT_EQ(text_of("with.mtl"), "newmtl M\n");
}

}  // namespace
}  // namespace raylift::test
