// SPDX-License-Identifier: Apache-2.0
// raylift batch: its inputs, its rows, and what becomes of scenes that fail.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reports.h"
#include "support/thin_scene.h"

namespace raylift::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::UnorderedElementsAre;

std::vector<std::string> names(const std::filesystem::path& report) {
  std::vector<std::string> result;
  for (const auto& [name, row] : rows_by_name(report)) result.push_back(name);
  return result;
}

/// The address sanitizer would turn a signal into an exit code.
constexpr const char* kSignalsKill = "ASAN_OPTIONS=handle_segv=0:handle_abort=0";

class Batch : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path() / name; }
  /// Runs a batch whose report is report().
  [[nodiscard]] Ended batch(std::vector<std::string> arguments, const RunOptions& options = {}) const {
    arguments.insert(arguments.begin(), {"batch", "--report", report()});
    return raylift(std::move(arguments), options);
  }
  [[nodiscard]] std::string report() const { return path("report.jsonl"); }

  TemporaryFolder folder_;
};

TEST_F(Batch, WritesARowForEachScene) {
  const Ended ended = batch({"--do", "info,check,upload", "--device", "host", "--jobs", "2", data_file("cube.dae"),
                             data_file("open_box.dae"), data_file("detector.dae")});
  EXPECT_EQ(ended.code, 1) << ended.err;  // a box leaks
  EXPECT_THAT(ended.out, AllOf(HasSubstr("ok"), HasSubstr("leaks"), HasSubstr("3 scenes in ")));
  const auto rows = rows_by_name(report());
  ASSERT_EQ(rows.size(), 3U);
  const json& cube = rows.at("cube.dae");
  EXPECT_EQ(cube["status"], "ok");
  EXPECT_EQ(cube["file"], data_file("cube.dae"));
  EXPECT_EQ(cube["bytes"], std::filesystem::file_size(data_file("cube.dae")));
  EXPECT_EQ(cube["do"], json({"info", "check", "upload"}));
  EXPECT_EQ(cube["info"]["triangles"]["unique"], 12);
  EXPECT_EQ(cube["check"]["watertight"], true);
  EXPECT_EQ(cube["upload"]["triangles"], 12);
  EXPECT_EQ(cube["run"]["device"], "host");
  EXPECT_EQ(cube["check"]["overlaps"]["overlapping_pairs"], 0);
  EXPECT_EQ(rows.at("detector.dae")["status"], "ok");
  EXPECT_EQ(rows.at("open_box.dae")["status"], "negative");
  EXPECT_EQ(rows.at("detector.dae")["info"]["bytes"], rows.at("detector.dae")["upload"]["bytes"]);
}

TEST_F(Batch, HasANegativeRowForOverlaps) {
  const Ended ended = batch({data_file("nested_transforms.dae")});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.out, HasSubstr("leaks, overlaps or too thin"));
  const json row = rows_of(report()).at(0);
  EXPECT_EQ(row["status"], "negative");
  EXPECT_EQ(row["check"]["watertight"], true);
  EXPECT_EQ(row["check"]["overlaps"]["found"].size(), 1U);
}

TEST_F(Batch, HasANegativeRowForSolidsThatAreTooThin) {
  EXPECT_EQ(batch({folder_.write("thin.dae", thin_film(2e-7)), folder_.write("fine.dae", thin_film(0.002))}).code, 1);
  const auto rows = rows_by_name(report());
  EXPECT_EQ(rows.at("thin.dae")["status"], "negative");
  EXPECT_EQ(rows.at("thin.dae")["check"]["thickness"]["unresolved"].size(), 1U);
  EXPECT_EQ(rows.at("fine.dae")["status"], "ok");
  EXPECT_EQ(rows.at("fine.dae")["check"]["thickness"]["unresolved_solids"], 0);
}

TEST_F(Batch, DoesOnlyWhatIsAsked) {
  EXPECT_EQ(batch({"--do", "info", data_file("open_box.dae")}).code, 0);
  EXPECT_FALSE(rows_of(report()).at(0).contains("check"));
  const Ended unknown = raylift({"batch", "--do", "info,chekc", data_file("cube.dae")});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean 'check'?"));
}

TEST_F(Batch, TakesFoldersPatternsAndLists) {
  std::filesystem::create_directories(path("in/deep"));
  copy_scenes(path("in/deep"), 2);
  std::filesystem::copy_file(data_file("cube.dae"), path("in/one.dae"));
  (void)folder_.write("in/readme.txt", "no scene");
  EXPECT_EQ(batch({path("in")}).code, 0);
  EXPECT_THAT(names(report()), ElementsAre("one.dae", "scene0.dae", "scene1.dae"));
  std::filesystem::remove(report());
  EXPECT_EQ(batch({path("in") + "/*/scene?.dae"}).code, 0);
  EXPECT_THAT(names(report()), ElementsAre("scene0.dae", "scene1.dae"));
  std::filesystem::remove(report());
  (void)folder_.write("list", "# a comment\n\n" + path("in/one.dae") + "\r\n" + path("in/deep") + "\n");
  EXPECT_EQ(batch({"@" + path("list"), path("in/one.dae")}).code, 0);
  EXPECT_THAT(rows_of(report()), SizeIs(3));  // each once
}

TEST_F(Batch, LeavesOutOfFoldersWhatIsHardlyAScene) {
  for (const char* name : {"in/.hidden/one.dae", "in/.two.dae", "in/three.xml", "in/.git/raw.raw", "in/real.dae"}) {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::filesystem::copy_file(data_file("cube.dae"), path(name));
  }
  EXPECT_EQ(batch({path("in")}).code, 0);
  EXPECT_THAT(names(report()), ElementsAre("real.dae"));
  std::filesystem::remove(report());
  (void)batch({path("in/.hidden"), path("in/.two.dae"), path("in/*.xml")});
  EXPECT_THAT(names(report()), ElementsAre(".two.dae", "one.dae", "three.xml"));
}

TEST_F(Batch, RefusesInputsThatAreNotThere) {
  for (const char* input : {"/does/not/exist.dae", "/does/not/*.dae", "@/does/not/exist"}) {
    const Ended ended = batch({data_file("cube.dae"), input});
    EXPECT_EQ(ended.code, 3);
    EXPECT_FALSE(std::filesystem::exists(report()));
  }
  EXPECT_EQ(batch({"--keep-going", data_file("cube.dae"), "/does/not/exist.dae"}).code, 3);
  const auto rows = rows_by_name(report());
  EXPECT_EQ(rows.at("cube.dae")["status"], "ok");
  EXPECT_EQ(rows.at("exist.dae")["error"]["kind"], "io");
}

TEST_F(Batch, DoesWhatLiesBesideAFolderThatCannotBeListed) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everywhere";
  std::filesystem::create_directories(path("in/locked"));
  std::filesystem::create_directories(path("in/open"));
  copy_scenes(path("in/open"), 1);
  ::chmod(path("in/locked").c_str(), 0);
  const Ended refused = batch({path("in")});
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err, HasSubstr(path("in/locked")));
  EXPECT_EQ(batch({"--keep-going", path("in")}).code, 3);
  const auto rows = rows_by_name(report());
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows.at("scene0.dae")["status"], "ok");
  EXPECT_EQ(rows.at("locked")["error"]["kind"], "io");
  ::chmod(path("in/locked").c_str(), 0700);
}

TEST_F(Batch, RefusesPatternsThatAreTooLong) {
  std::string pattern;
  for (int i = 0; i != 5000; ++i) pattern += "*/";
  const Ended ended = batch({"@" + folder_.write("list", pattern + '\n').string()});
  EXPECT_EQ(ended.code, 3);
  EXPECT_THAT(ended.err, HasSubstr("longer than"));
}

TEST_F(Batch, NamesTheFileThatAnErrorIsAbout) {
  const std::string folder = folder_.write("no-folder", "");
  const Ended ended = batch({"--do", "cache", "--cache=" + folder, data_file("cube.dae")});
  EXPECT_EQ(ended.code, 3);
  EXPECT_THAT(ended.err, HasSubstr(folder));
  EXPECT_THAT(rows_of(report()).at(0)["error"]["element"], HasSubstr(folder));
}

TEST_F(Batch, MakesOneRowOfACrash) {
  for (const auto& [fault, signal] : {std::pair{"segv", "SIGSEGV"}, {"abort", "SIGABRT"}}) {
    std::filesystem::remove(report());
    const Ended ended = batch({data_file("cube.dae"), data_file("instances.dae")}, import_fault(fault, {kSignalsKill}));
    EXPECT_EQ(ended.code, 4);
    for (const auto& [name, row] : rows_by_name(report())) {
      EXPECT_EQ(row["status"], "failed");
      EXPECT_EQ(row["error"]["kind"], "malformed");
      EXPECT_EQ(row["error"]["signal"], signal);
    }
    EXPECT_THAT(rows_of(report()), SizeIs(2));
  }
}

TEST_F(Batch, DoesNotBlameTheSceneForASignalToItsImport) {
  const Ended ended = batch({data_file("cube.dae")}, import_fault("term"));
  EXPECT_EQ(ended.code, 130) << ended.err;
  ASSERT_THAT(rows_of(report()), SizeIs(1));
  EXPECT_EQ(rows_of(report()).at(0)["error"]["kind"], "cancelled");
}

TEST_F(Batch, MakesOneRowOfACrashOfItsOwn) {
  // Without isolation, the worker itself goes down: so do two scenes, and no more.
  const Ended ended = batch({"--no-isolate", "--jobs", "2", data_file("cube.dae"), data_file("instances.dae"),
                             folder_.write("broken.dae", "<COLLADA>")},
                            faulty({"RAYLIFT_BATCH_FAULT=cube.dae", kSignalsKill}));
  EXPECT_EQ(ended.code, 4);
  const auto rows = rows_by_name(report());
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows.at("cube.dae")["error"]["signal"], "SIGSEGV");
  EXPECT_EQ(rows.at("cube.dae")["error"]["element"], "start");
  EXPECT_EQ(rows.at("instances.dae")["status"], "ok");
  EXPECT_TRUE(rows.at("broken.dae")["error"]["signal"].is_null());
}

TEST_F(Batch, StopsASceneThatTakesTooLong) {
  const Ended ended = batch({"--timeout", "0.5", data_file("cube.dae")}, import_fault("hang"));
  EXPECT_EQ(ended.code, 6);
  const json row = rows_of(report()).at(0);
  EXPECT_EQ(row["error"]["kind"], "limit");
  EXPECT_THAT(row["error"]["message"], HasSubstr("--timeout"));
}

TEST_F(Batch, StopsASceneThatTakesTooMuchMemory) {
  const Ended ended = batch({"--memory", "200MB", data_file("cube.dae")}, import_fault("memory"));
  EXPECT_EQ(ended.code, 6);
  const json row = rows_of(report()).at(0);
  EXPECT_EQ(row["error"]["kind"], "limit");
  EXPECT_THAT(row["error"]["message"], AllOf(HasSubstr("200 MB"), HasSubstr("--memory")));
}

TEST_F(Batch, CountsTheMemoryOfAllThatASceneStarts) {
  // What stands for the viewer here takes its memory two processes further down.
  const std::string viewer =
      folder_.write("viewer", "#!/bin/sh\n(head -c 400000000 /dev/zero; sleep 20) | tail -c 1000000000 >/dev/null\n");
  std::filesystem::permissions(viewer, std::filesystem::perms::owner_all);
  const std::vector<std::string> arguments{"--do",     "render", "--pictures", path("pictures"), data_file("cube.dae"),
                                           "--memory", "300MB"};
  EXPECT_EQ(batch(arguments, {{"RAYLIFT_VIEW=" + viewer}, ""}).code, 6);
  EXPECT_THAT(rows_of(report()).at(0)["error"]["message"], AllOf(HasSubstr("300 MB"), HasSubstr("--memory")));
}

TEST_F(Batch, TakesNoRowFromTheViewer) {
  // A whole message, as a worker sends it, on every descriptor that could be the worker's.
  const std::string row = json{{"file", data_file("cube.dae")}, {"status", "ok"}, {"forged", true}}.dump();
  ASSERT_LT(row.size(), 256U);
  char length[8];
  std::snprintf(length, sizeof length, "\\%03o", static_cast<unsigned>(row.size()));
  const std::string viewer = folder_.write(
      "viewer", "#!/bin/sh\nfor i in 3 4 5 6 7 8 9; do (printf '\\004\\000\\000\\000" + std::string(length) +
                    "\\000\\000\\000%s' '" + row + "' >&$i) 2>/dev/null; done\ncp \"$1\" \"$3\"\n");
  std::filesystem::permissions(viewer, std::filesystem::perms::owner_all);
  EXPECT_EQ(
      batch({"--do", "render", "--pictures", path("pictures"), data_file("cube.dae")}, {{"RAYLIFT_VIEW=" + viewer}, ""})
          .code,
      0);
  EXPECT_FALSE(rows_of(report()).at(0).contains("forged"));
  EXPECT_TRUE(rows_of(report()).at(0).contains("render"));
}

TEST_F(Batch, TakesNoRowOfAnotherScene) {
  EXPECT_EQ(batch({data_file("cube.dae")}, faulty({"RAYLIFT_BATCH_STRAY=other.dae"})).code, 4);
  const json row = rows_of(report()).at(0);
  EXPECT_EQ(row["file"], data_file("cube.dae"));
  EXPECT_THAT(row["error"]["message"], HasSubstr("no row of this scene"));
}

TEST_F(Batch, KeepsNamesThatAreNoText) {
  const std::string odd = path("a\nb\xe9.dae");
  std::filesystem::copy_file(data_file("cube.dae"), odd);
  EXPECT_EQ(batch({odd}).code, 0);
  std::string hex;
  for (const char c : odd) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(c));
    hex += digits;
  }
  EXPECT_EQ(rows_of(report()).at(0)["file_hex"], hex);
  EXPECT_EQ(batch({"--resume", odd}).code, 0);
  EXPECT_THAT(rows_of(report()), SizeIs(1));
}

TEST_F(Batch, EndsWithTheFirstErrorInTheOrderOfItsInputs) {
  const std::string broken = folder_.write("broken.dae", "<COLLADA>");
  const std::string large = folder_.write("large.dae", std::string(2000, ' '));
  EXPECT_EQ(batch({"--max-file-size", "1990", data_file("open_box.dae"), broken, large}).code, 4);
  std::filesystem::remove(report());
  EXPECT_EQ(batch({"--max-file-size", "1990", data_file("open_box.dae"), large, broken}).code, 6);
}

TEST_F(Batch, StopsAtTheFirstFailureWhereAsked) {
  copy_scenes(folder_.path(), 30);
  EXPECT_EQ(batch({"--fail-fast", "--jobs", "1", folder_.path()}, import_fault("exit")).code, 4);
  EXPECT_THAT(rows_of(report()), SizeIs(1));
}

TEST_F(Batch, EndsWhereNoDeviceWorks) {
  const std::vector<std::string> arguments{"--do", "upload", "--device", "cuda:99", data_file("cube.dae")};
  const Ended ended = batch(arguments);
  EXPECT_EQ(ended.code, 9);
  EXPECT_THAT(rows_of(report()), IsEmpty());
  std::vector<std::string> more = arguments;
  more.insert(more.begin(), {"--resume", "--keep-going"});
  EXPECT_EQ(batch(more).code, 9);
  EXPECT_EQ(rows_of(report()).at(0)["error"]["kind"], "device");
}

TEST_F(Batch, RendersByTheViewer) {
  // In the viewer's place: FILE --output PICTURE.
  const std::string viewer = folder_.write("viewer", "#!/bin/sh\ntest \"$2\" = --output && cp \"$1\" \"$3\"\n");
  const std::string broken = folder_.write("broken", "#!/bin/sh\necho no display here >&2\nexit 10\n");
  for (const std::string& script : {viewer, broken})
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  const std::vector<std::string> arguments{"--do", "render", "--pictures", path("pictures"), data_file("cube.dae")};
  EXPECT_EQ(batch(arguments, {{"RAYLIFT_VIEW=" + viewer}, ""}).code, 0);
  const std::string picture = rows_of(report()).at(0)["render"]["picture"];
  EXPECT_TRUE(std::filesystem::exists(path("pictures/" + picture)));
  std::filesystem::remove(report());
  EXPECT_EQ(batch(arguments, {{"RAYLIFT_VIEW=" + broken}, ""}).code, 10);
  EXPECT_THAT(rows_of(report()).at(0)["error"]["message"], HasSubstr("no display here"));
  EXPECT_EQ(batch(arguments, {{"RAYLIFT_VIEW=/nowhere"}, ""}).code, 5);
}

TEST_F(Batch, TracesTheSameRaysEachTime) {
  std::vector<std::string> first;
  for (int run = 0; run != 2; ++run) {
    std::filesystem::remove(report());
    EXPECT_EQ(
        batch({"--do", "trace", "--device", "host", "--rays", "1000", data_file("cube.dae"), data_file("detector.dae")})
            .code,
        0);
    const json row = rows_by_name(report()).at("cube.dae");
    EXPECT_EQ(row["trace"]["rays"], 1000);
    EXPECT_EQ(row["trace"]["hits"], 1000);  // from the middle of a closed cube
    EXPECT_EQ(row["trace"]["lost"], 0);
    if (first.empty()) first = content_of(report());
    EXPECT_EQ(content_of(report()), first);
  }
}

TEST_F(Batch, SortsItsReportWhereAsked) {
  copy_scenes(folder_.path(), 12);
  std::vector<std::string> arguments{"--sort", "--jobs", "4", data_file("detector.dae")};
  for (int i = 11; i >= 0; --i) arguments.push_back(path("scene" + std::to_string(i) + ".dae"));
  EXPECT_EQ(batch(arguments).code, 0);
  std::vector<std::string> files;
  for (const json& row : rows_of(report())) files.push_back(row["file"]);
  EXPECT_EQ(files, std::vector<std::string>(arguments.begin() + 3, arguments.end()));
  arguments.emplace_back("--resume");
  ::chmod(report().c_str(), 0640);
  EXPECT_EQ(batch(arguments).code, 0);
  EXPECT_THAT(rows_of(report()), SizeIs(13));
  EXPECT_EQ(std::filesystem::status(report()).permissions(), std::filesystem::perms{0640});
}

TEST_F(Batch, SaysItInJson) {
  const json summary =
      batch({"--json", "--keep-going", data_file("cube.dae"), data_file("open_box.dae"), "/nowhere.dae"}).json();
  EXPECT_EQ(summary["scenes"], 3);
  EXPECT_EQ(summary["done"], 3);
  EXPECT_EQ(summary["results"], json({{"ok", 1}, {"negative", 1}, {"io", 1}}));
}

TEST_F(Batch, ReportsTheSameEachTime) {
  const std::vector<std::string> scenes{data("").string(), (source_dir() / "tests/data/malformed").string()};
  std::vector<std::string> first;
  for (const char* jobs : {"1", "4"}) {
    std::filesystem::remove(report());
    (void)batch({"--jobs", jobs, scenes[0], scenes[1]});
    const std::vector<std::string> content = content_of(report());
    EXPECT_GT(content.size(), 20U);
    if (first.empty()) first = content;
    EXPECT_EQ(content, first);
  }
}

}  // namespace
}  // namespace raylift::test
