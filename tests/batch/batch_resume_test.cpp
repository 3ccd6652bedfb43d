// SPDX-License-Identifier: Apache-2.0
// raylift batch --resume: only with the same options and files, under whatever names; rows that are done again; and
// faults of the machine, which are no scene's.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <set>
#include <thread>

#include "reports.h"

namespace raylift::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

/// The process's working folder, for a scope: children start there.
class WorkingFolder {
 public:
  explicit WorkingFolder(const std::filesystem::path& folder) : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(folder);
  }
  ~WorkingFolder() { std::filesystem::current_path(before_); }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;

 private:
  std::filesystem::path before_;
};

class BatchResume : public CopiesOfAScene {
 protected:
  static constexpr int kScenes = 4;
  BatchResume() : CopiesOfAScene(kScenes) {}
  [[nodiscard]] std::string scene(int i) const { return scenes() + "/scene" + std::to_string(i) + ".dae"; }
  [[nodiscard]] Ended batch(std::vector<std::string> arguments, const RunOptions& options = {}) const {
    arguments.insert(arguments.begin(), {"batch", "--report", report()});
    return raylift(std::move(arguments), options);
  }
  /// One row for each scene, with this status.
  void expect_complete(int count = kScenes) const {
    std::set<std::string> files;
    for (const json& row : rows_of(report())) {
      EXPECT_EQ(row["status"], "ok") << row;
      EXPECT_TRUE(files.insert(std::filesystem::path(row["file"].get<std::string>()).filename()).second) << row;
    }
    EXPECT_EQ(files.size(), static_cast<std::size_t>(count));
  }
  /// Another scene of the same size under the same name.
  void change(const std::string& file) const {
    std::string text = bytes_in(file);
    const auto digit = text.find_first_of("12", text.find('>', text.find("<float_array")));
    ASSERT_NE(digit, std::string::npos);
    text[digit] = text[digit] == '1' ? '2' : '3';
    std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
  }
};

TEST_F(BatchResume, RefusesOtherOptions) {
  ASSERT_EQ(batch({scenes()}).code, 0);
  const std::string before = text();
  for (const std::vector<std::string>& other : {std::vector<std::string>{"--reader", "assimp"},
                                                {"--unit", "inch"},
                                                {"--up", "x"},
                                                {"--weld", "0.5"},
                                                {"--weld", "off"},
                                                {"--external"},
                                                {"--repair"},
                                                {"--drop-degenerate"},
                                                {"--no-sensor-materials"},
                                                {"--flatten"},
                                                {"--do", "info"}}) {
    std::vector<std::string> arguments = other;
    arguments.insert(arguments.end(), {"--resume", scenes()});
    const Ended ended = batch(arguments);
    EXPECT_EQ(ended.code, 2) << other.front();
    EXPECT_THAT(ended.err, AllOf(HasSubstr("another " + other.front() + ":"), HasSubstr(report())));
    EXPECT_EQ(text(), before);
  }
}

TEST_F(BatchResume, RefusesThoseOfTheActionsOptions) {
  ASSERT_EQ(batch({"--do", "trace", "--device", "host", "--rays", "100", scenes()}).code, 0);
  for (const std::vector<std::string>& other :
       {std::vector<std::string>{"--rays", "200"}, {"--rays", "100", "--budget", "1GB"}}) {
    std::vector<std::string> arguments{"--do", "trace", "--device", "host", "--resume", scenes()};
    arguments.insert(arguments.end(), other.begin(), other.end());
    EXPECT_EQ(batch(arguments).code, 2) << other.back();
  }
  EXPECT_EQ(batch({"--do", "trace", "--device", "host", "--resume", "--rays", "100", scenes()}).code, 0);
}

TEST_F(BatchResume, TakesOtherLimitsAndOtherMeans) {
  ASSERT_EQ(batch({"--jobs", "1", scenes()}).code, 0);
  const std::string before = text();
  EXPECT_EQ(
      batch({"--jobs", "2", "--timeout", "9", "--max-triangles", "5k", "--no-isolate", "--resume", scenes()}).code, 0);
  EXPECT_EQ(text(), before);
}

TEST_F(BatchResume, RefusesAReportOfAnotherVersion) {
  ASSERT_EQ(batch({scenes()}).code, 0);
  EXPECT_EQ(lines_of(report()).front()["report"], "raylift batch");
  std::string other = text();
  const std::string version = "\"version\":\"" + lines_of(report()).front()["version"].get<std::string>();
  ASSERT_NE(other.find(version), std::string::npos);
  other.replace(other.find(version), version.size(), "\"version\":\"0.0.1");
  std::ofstream(report(), std::ios::binary | std::ios::trunc) << other;
  const Ended ended = batch({"--resume", scenes()});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("of raylift \"0.0.1\""));
  EXPECT_EQ(text(), other);
}

TEST_F(BatchResume, RefusesFilesThatHaveChangedOrDoesThemAgain) {
  ASSERT_EQ(batch({scenes()}).code, 0);
  const std::string before = text();
  const auto rows = rows_by_name(report());
  const auto time = std::filesystem::last_write_time(scene(2));
  change(scene(2));
  std::filesystem::last_write_time(scene(2), time);  // contents count, no times
  const Ended refused = batch({"--resume", scenes()});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("1 scene has changed"), HasSubstr("scene2.dae"), HasSubstr("--retry changed")));
  EXPECT_EQ(text(), before);

  const Ended again = batch({"--resume", "--retry", "changed", scenes()});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("1 scene in "));
  expect_complete();
  const auto now = rows_by_name(report());
  for (const auto& [name, row] : now) {
    if (name == "scene2.dae") {
      EXPECT_NE(row["info"]["bounds_mm"], rows.at(name)["info"]["bounds_mm"]);
      EXPECT_NE(row["source"], rows.at(name)["source"]);
    } else {
      EXPECT_EQ(row, rows.at(name));
    }
  }
}

/// What a scene is read from beside its own file: other documents, and the files of other formats.
TEST_F(BatchResume, NoticesChangesOfAllFilesOfAScene) {
  std::filesystem::create_directory(scenes() + "/.parts");
  const std::string part = scenes() + "/.parts/part.dae";
  std::filesystem::copy_file(scene(0), part);
  std::string main = bytes_in(scene(1));
  main.insert(main.find("<instance_geometry url=\"#") + 24, ".parts/part.dae");
  std::ofstream(scene(1), std::ios::binary | std::ios::trunc) << main;
  (void)folder_.write("scenes/object.obj", "mtllib colors.mtl\nusemtl a\nv 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\n");
  const std::string colors = folder_.write("scenes/colors.mtl", "newmtl a\nKd 1 0 0\n");
  const std::vector<std::string> arguments{"--do", "info", "--external", "--resume", scenes()};
  ASSERT_EQ(batch(arguments).code, 0);
  const std::string before = text();
  auto rows = rows_by_name(report());
  EXPECT_EQ(rows["scene1.dae"]["files"][0]["file"], ".parts/part.dae");
  EXPECT_EQ(rows["object.obj"]["files"][0]["file"], "colors.mtl");
  EXPECT_FALSE(rows["scene0.dae"].contains("files"));
  EXPECT_EQ(batch(arguments).code, 0);
  EXPECT_EQ(text(), before);

  change(part);
  std::ofstream(colors, std::ios::trunc) << "newmtl a\nKd 0 1 0\n";
  const Ended refused = batch(arguments);
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("2 scenes have changed"));
  std::vector<std::string> retry = arguments;
  retry.insert(retry.end(), {"--retry", "changed"});
  EXPECT_THAT(batch(retry).out, HasSubstr("2 scenes in "));
  EXPECT_NE(rows_by_name(report())["scene1.dae"]["info"]["bounds_mm"], rows["scene1.dae"]["info"]["bounds_mm"]);
  std::filesystem::remove(colors);
  EXPECT_THAT(batch(arguments).err, HasSubstr("1 scene has changed"));
}

TEST_F(BatchResume, KnowsAFileByAllItsNames) {
  std::filesystem::create_directory_symlink(scenes(), folder_.path() / "link");
  const WorkingFolder here(scenes());
  ASSERT_EQ(batch({"."}).code, 0);
  const std::string before = text();
  for (const std::vector<std::string>& names : {std::vector<std::string>{scenes()},
                                                {scenes() + "/*.dae"},
                                                {"*.dae"},
                                                {"./scene?.dae"},
                                                {"../scenes"},
                                                {"../link"},
                                                {"../link/../scenes"},
                                                {".", scenes(), "*.dae", "../link"}}) {
    std::vector<std::string> arguments = names;
    arguments.emplace_back("--resume");
    const Ended ended = batch(arguments);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("0 scenes in ")) << names.front();
    EXPECT_EQ(text(), before) << names.front();
  }
}

TEST_F(BatchResume, GoesOnInAnotherFolder) {
  {
    const WorkingFolder here(scenes());
    ASSERT_EQ(batch({"scene0.dae"}).code, 0);
  }
  const WorkingFolder here(folder_.path());
  EXPECT_THAT(batch({"--resume", "--sort", "scenes"}).out, HasSubstr("3 scenes in "));
  expect_complete();
  EXPECT_EQ(rows_of(report()).front()["file"], "scene0.dae");
  EXPECT_EQ(rows_of(report()).back()["file"], scene(3)) << "relative names are relative to the head's folder";
  EXPECT_THAT(batch({"--resume", scenes()}).out, HasSubstr("0 scenes in "));
}

TEST_F(BatchResume, LinksToOneFileAreScenesOfTheirOwn) {
  std::filesystem::create_symlink(scene(0), scenes() + "/other.dae");
  ASSERT_EQ(batch({scenes()}).code, 0);
  expect_complete(kScenes + 1);
}

TEST_F(BatchResume, DoesRowsAgainByTheirKind) {
  const std::string broken = folder_.write("scenes/broken.dae", "<COLLADA>");
  EXPECT_EQ(batch({"--timeout", "0.5", scene(0)}, import_fault("hang")).code, 6);
  EXPECT_EQ(batch({"--resume", scene(0), broken}).code, 6);
  EXPECT_THAT(rows_of(report()), SizeIs(2));
  EXPECT_EQ(batch({"--resume", "--retry", "io,limit", "--timeout", "1min", scene(0), broken}).code, 4);
  EXPECT_THAT(rows_of(report()), SizeIs(2));
  EXPECT_EQ(rows_by_name(report()).at("scene0.dae")["status"], "ok");
  EXPECT_EQ(rows_by_name(report()).at("broken.dae")["error"]["kind"], "malformed");
  EXPECT_EQ(batch({"--retry", "io", scene(0)}).code, 2);
  const Ended unknown = batch({"--resume", "--retry", "limits", scene(0)});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean 'limit'?"));
}

// Faults of the machine ----------------------------------------------------------------------------------------------

TEST_F(BatchResume, BlamesNoSceneForAMissingDescriptor) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer ends where it has no descriptor for itself";
#endif
  int stopped = 0;
  for (int most = 4; most != 40; ++most) {
    std::filesystem::remove(report());
    const std::string command = "ulimit -n " + std::to_string(most) + "; exec " + program("raylift").string() +
                                " batch --jobs 2 --report " + report() + ' ' + scenes();
    const int status = std::system(("/bin/bash -c '" + command + "' >/dev/null 2>&1").c_str());
    for (const json& row : rows_of(report())) EXPECT_EQ(row["status"], "ok") << most << ' ' << row;
    if (status == 0) break;
    ++stopped;
    if (!std::filesystem::exists(report())) continue;
    EXPECT_EQ(batch({"--resume", scenes()}).code, 0) << most;
    expect_complete();
  }
  EXPECT_GT(stopped, 3);
}

TEST_F(BatchResume, StopsWhereTheFolderOfTheScenesVanishes) {
  Running running({"batch", "--jobs", "1", "--report", report(), scenes()}, faulty({"RAYLIFT_BATCH_SLOW=200"}));
  for (int i = 0; i != 2000 && std::ranges::count(text(), '\n') < 2; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::filesystem::rename(scenes(), scenes() + "-away");
  const Ended ended = running.wait();
  EXPECT_EQ(ended.code, 11) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("gone"), HasSubstr("--resume")));
  for (const json& row : rows_of(report())) EXPECT_EQ(row["status"], "ok");
  EXPECT_LT(rows_of(report()).size(), std::size_t{kScenes});
  std::filesystem::rename(scenes() + "-away", scenes());
  EXPECT_EQ(batch({"--resume", scenes()}).code, 0);
  expect_complete();
}

TEST_F(BatchResume, AFileThatIsRemovedIsARowOfItsOwn) {
  Running running({"batch", "--jobs", "1", "--report", report(), scenes()}, faulty({"RAYLIFT_BATCH_SLOW=200"}));
  for (int i = 0; i != 2000 && text().empty(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::filesystem::remove(scene(3));
  EXPECT_EQ(running.wait().code, 3);
  EXPECT_EQ(rows_by_name(report()).at("scene3.dae")["error"]["kind"], "io");
  EXPECT_THAT(rows_of(report()), SizeIs(kScenes));
}

TEST_F(BatchResume, GoesOnWithoutADeadDevice) {
  const Ended ended =
      batch({"--do", "upload", "--device", "cuda:0,host", scenes()}, faulty({"RAYLIFT_BATCH_DEAD_DEVICE=cuda:0=gone"}));
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("cuda:0 is no longer used"));
  expect_complete();
  for (const json& row : rows_of(report())) EXPECT_EQ(row["run"]["device"], "host");
}

TEST_F(BatchResume, StopsWhereTheOnlyDeviceDies) {
  const std::vector<std::string> arguments{"--do", "upload", "--device", "host", "--resume", scenes()};
  const Ended ended = batch(arguments, faulty({"RAYLIFT_BATCH_DEAD_DEVICE=host=gone"}));
  EXPECT_EQ(ended.code, 9);
  EXPECT_THAT(ended.err, HasSubstr("--resume"));
  EXPECT_THAT(rows_of(report()), SizeIs(0));
  EXPECT_EQ(batch(arguments).code, 0);
  expect_complete();
}

TEST_F(BatchResume, TriesASceneAgainThatADeviceFailedWith) {
  const std::vector<std::string> arguments{"--do", "upload", "--device", "host", "--resume", scenes()};
  EXPECT_EQ(batch(arguments, faulty({"RAYLIFT_BATCH_DEAD_DEVICE=host=busy"})).code, 9);
  for (const json& row : rows_of(report())) EXPECT_EQ(row["error"]["kind"], "device");
  std::vector<std::string> retry = arguments;
  retry.insert(retry.end(), {"--retry", "device"});
  EXPECT_EQ(batch(retry).code, 0);
  expect_complete();
}

TEST_F(BatchResume, ChecksItsDevicesFirst) {
  for (const auto& [devices, code] :
       {std::pair{"host,cuda:99", 9}, {"host,cuda:x", 2}, {"host,hots", 2}, {"host,", 2}}) {
    const Ended ended = batch({"--do", "upload", "--device", devices, scenes()});
    EXPECT_EQ(ended.code, code) << devices;
    EXPECT_THAT(ended.err, Not(HasSubstr("scene"))) << devices;
    EXPECT_FALSE(std::filesystem::exists(report())) << devices;
  }
}

}  // namespace
}  // namespace raylift::test
