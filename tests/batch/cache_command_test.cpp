// SPDX-License-Identifier: Apache-2.0
// raylift cache, and --cache: several programs at once, killed ones, full disks and damaged files.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <map>
#include <memory>
#include <thread>

#include "reports.h"
#include "support/file_size_limit.h"

namespace raylift::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;

class CacheCommand : public testing::Test {
 protected:
  [[nodiscard]] std::string folder() const { return (root_.path() / "cache").string(); }
  [[nodiscard]] std::string option() const { return "--cache=" + folder(); }
  [[nodiscard]] json list() const { return raylift({"cache", "list", "--json", option()}).json(); }
  [[nodiscard]] std::size_t entries() const {
    std::error_code none;
    const fs::directory_iterator all(folder(), none);
    return none ? 0 : static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
  /// Changes one byte of the only cache file, a third from its end.
  void damage() const {
    const std::string path = list()["files"][0]["file"];
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    const auto at = static_cast<std::streamoff>(fs::file_size(path) / 3 * 2);
    file.seekg(at);
    const auto old = static_cast<char>(file.get());
    file.seekp(at).put(static_cast<char>(old ^ 16));
  }
  TemporaryFolder root_;
};

TEST_F(CacheCommand, ListsTheOptionsOfEachFile) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> made{
      {{}, ""},
      {{"--flatten", "--no-bvh"}, "flatten=1 bvh=0"},
      {{"--unit", "inch", "--up", "y", "--weld", "0.25", "--repair"}, "unit=25.4 up=y weld=0.25 repair=1"},
      {{"--weld", "off", "--max-depth", "100"}, "weld=off max_depth=100"}};
  std::vector<std::string> expected;
  for (const auto& [options, text] : made) {
    std::vector<std::string> arguments{"cache", option(), data_file("cube.dae")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    EXPECT_EQ(raylift(arguments).code, 0);
    expected.push_back(text);
  }
  std::vector<std::string> listed;
  const json all = list();
  for (const json& file : all["files"]) listed.push_back(file["options"]);
  EXPECT_THAT(listed, testing::UnorderedElementsAreArray(expected));
  EXPECT_THAT(raylift({"cache", "list", option()}).out, HasSubstr("  weld=off max_depth=100  "));
  // By another command, too.
  EXPECT_EQ(raylift({"cache", "clear", option()}).code, 0);
  EXPECT_EQ(raylift({"upload", option(), "--device", "host", "--flatten", data_file("cube.dae")}).code, 0);
  EXPECT_EQ(list()["files"][0]["options"], "flatten=1 bvh=0");
}

TEST_F(CacheCommand, MakesListsVerifiesAndClears) {
  const Ended made = raylift({"cache", option(), "--json", data_file("cube.dae"), data_file("detector.dae")});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.json()[0]["was_there"], false);
  const Ended again = raylift({"cache", option(), "--json", data_file("cube.dae")});
  EXPECT_EQ(again.one()["was_there"], true);
  EXPECT_EQ(again.one()["cache_file"], made.json()[0]["cache_file"]);

  const json listed = list();
  ASSERT_EQ(listed["files"].size(), 2U);
  EXPECT_EQ(listed["bytes"],
            made.json()[0]["bytes"].get<std::uint64_t>() + made.json()[1]["bytes"].get<std::uint64_t>());
  EXPECT_THAT(raylift({"cache", "list", option()}).out, HasSubstr("detector.dae"));

  const Ended verified = raylift({"cache", "verify", option()});
  EXPECT_EQ(verified.code, 0) << verified.err;
  EXPECT_THAT(verified.out, HasSubstr("intact"));
  const Ended cleared = raylift({"cache", "clear", "--json", option()});
  EXPECT_EQ(cleared.json()["files"], 2);
  EXPECT_EQ(entries(), 0U);
  EXPECT_EQ(raylift({"cache", "clear", option()}).code, 0);
  EXPECT_EQ(list()["files"].size(), 0U);
}

TEST_F(CacheCommand, IsWhatUploadsTakeAndFill) {
  const std::vector<std::string> upload{
      "upload", "--json", "--device", "host", "--verify", option(), data_file("detector.dae")};
  EXPECT_EQ(raylift(upload).one()["cache"]["hit"], false);
  const json second = raylift(upload).one();
  EXPECT_EQ(second["cache"]["hit"], true);
  EXPECT_EQ(second["verified_bytes"], second["residency"]["bytes"]);
  EXPECT_TRUE(raylift({"upload", "--json", "--device", "host", data_file("detector.dae")}).one()["cache"].is_null());
}

TEST_F(CacheCommand, IsFoundByTheEnvironment) {
  const RunOptions environment{{"RAYLIFT_CACHE_DIR=" + folder()}, ""};
  EXPECT_EQ(raylift({"upload", "--device", "host", "--cache", data_file("cube.dae")}, environment).code, 0);
  EXPECT_EQ(list()["files"].size(), 1U);
  EXPECT_EQ(raylift({"cache", "list", "--json"}, environment).json()["files"].size(), 1U);
}

TEST_F(CacheCommand, FindsDamageAndMakesTheFileAgain) {
  ASSERT_EQ(raylift({"cache", option(), data_file("detector.dae")}).code, 0);
  damage();
  const Ended verified = raylift({"cache", "verify", "--json", option()});
  EXPECT_EQ(verified.code, 4);
  EXPECT_EQ(verified.one()["error"]["kind"], "malformed");
  EXPECT_THAT(verified.err, HasSubstr("section '"));
  const Ended made = raylift({"cache", option(), "--json", data_file("detector.dae")});
  EXPECT_EQ(made.code, 0);
  EXPECT_EQ(made.one()["was_there"], false);
  EXPECT_THAT(made.err, HasSubstr("it is made again"));
  EXPECT_EQ(raylift({"cache", "verify", option()}).code, 0);
}

TEST_F(CacheCommand, GivesTheSameUploadFromADamagedFile) {
  const std::vector<std::string> upload{
      "upload", "--json", "--device", "host", "--verify", option(), data_file("detector.dae")};
  ASSERT_EQ(raylift(upload).code, 0);
  damage();
  const Ended ended = raylift(upload);
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.err, HasSubstr("raylift: warning: the cache file is damaged"));
  EXPECT_EQ(ended.one()["cache"]["hit"], false);
  EXPECT_EQ(raylift(upload).one()["cache"]["hit"], true);
}

TEST_F(CacheCommand, MayRunManyTimesAtOnce) {
  std::vector<std::unique_ptr<Running>> programs;
  for (int i = 0; i != 4; ++i)
    programs.push_back(
        std::make_unique<Running>(std::vector<std::string>{"cache", option(), data_file("detector.dae")}));
  for (const auto& program : programs) {
    const Ended ended = program->wait();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err, IsEmpty());
  }
  EXPECT_EQ(entries(), 1U);
  EXPECT_EQ(raylift({"cache", "verify", option()}).code, 0);
}

TEST_F(CacheCommand, IsFilledAndUsedByBatches) {
  const std::string report = (root_.path() / "rows").string();
  const auto rows = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments{
        "batch", "--device", "host", "--report", report, data_file("cube.dae"), data_file("detector.dae")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Ended ended = raylift(arguments);
    EXPECT_EQ(ended.code, 0) << ended.err;
    std::map<std::string, json> result;
    for (json& row : rows_of(report)) {
      row.erase("run");
      row.erase("do");
      result[row["file"]] = row;
    }
    fs::remove(report);
    return result;
  };
  const auto plain = rows({"--do", "info,upload"});
  ASSERT_EQ(plain.size(), 2U);
  EXPECT_EQ(rows({"--do", "info,upload", option()}), plain);
  EXPECT_EQ(list()["files"].size(), 2U);
  EXPECT_EQ(rows({"--do", "info,upload", option()}), plain);
  auto filled = rows({"--do", "info,cache,upload", option()});
  EXPECT_EQ(list()["files"].size(), 4U);  // with the hierarchy, too
  EXPECT_EQ(rows({"--do", "info,cache,upload", option()}), filled);
  for (auto& [file, row] : filled) {
    EXPECT_GT(row["cache"]["bytes"], 0);
    row.erase("cache");
  }
  EXPECT_EQ(filled, plain);
}

TEST_F(CacheCommand, KilledAtAnyMomentLeavesNoBrokenFile) {
  const std::vector<std::string> make{"cache", "--again", option(), data_file("detector.dae")};
  const auto start = std::chrono::steady_clock::now();
  ASSERT_EQ(raylift(make).code, 0);
  const auto whole = std::chrono::steady_clock::now() - start;
  for (int i = 0; i != 12; ++i) {
    Running program(make);
    std::this_thread::sleep_for(whole * (i + 1) / 12);
    program.signal(SIGKILL);
    (void)program.wait();
    EXPECT_EQ(raylift({"cache", "verify", option()}).code, 0);
  }
  EXPECT_EQ(raylift({"cache", "clear", option()}).code, 0);
  EXPECT_EQ(entries(), 0U);
}

TEST_F(CacheCommand, TellsOfAFullDiskAndLeavesNothing) {
  Ended made;
  Ended uploaded;
  {
    // Below the cache file's size, above those of the host device's shared memory.
    const FileSizeLimit limit(450'000);
    made = raylift({"cache", "--no-isolate", option(), data_file("detector.dae")});
    uploaded = raylift({"upload", "--no-isolate", "--device", "host", option(), data_file("detector.dae")});
  }
  EXPECT_EQ(made.code, 3);
  EXPECT_THAT(made.err, HasSubstr("the cache file can't be written"));
  EXPECT_EQ(uploaded.code, 0);
  EXPECT_THAT(uploaded.err, HasSubstr("raylift: warning: the cache file can't be written"));
  EXPECT_EQ(entries(), 0U);
}

TEST_F(CacheCommand, TellsOfAFolderThatCannotBe) {
  const std::string file = root_.write("file", "x").string();
  EXPECT_EQ(raylift({"cache", "--cache=" + file, data_file("cube.dae")}).code, 3);
  EXPECT_EQ(raylift({"cache", "list", "--cache=" + file}).code, 3);
  const Ended uploaded = raylift({"upload", "--device", "host", "--cache=" + file + "/cache", data_file("cube.dae")});
  EXPECT_EQ(uploaded.code, 0);
  EXPECT_THAT(uploaded.err, HasSubstr("warning"));
}

TEST_F(CacheCommand, CannotFillAFolderThatIsReadOnly) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  fs::create_directory(folder());
  fs::permissions(folder(), fs::perms::owner_read | fs::perms::owner_exec);
  const Ended made = raylift({"cache", option(), data_file("cube.dae")});
  const Ended uploaded = raylift({"upload", "--device", "host", option(), data_file("cube.dae")});
  fs::permissions(folder(), fs::perms::owner_all);
  EXPECT_EQ(made.code, 3);
  EXPECT_EQ(uploaded.code, 0);
  EXPECT_THAT(uploaded.err, HasSubstr("can't be made"));
}

TEST_F(CacheCommand, DoesNotAdviseToRemoveWhatIsNoCacheFile) {
  const std::string fifo = (root_.path() / "fifo").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& file : {data_file("cube.dae"), fifo}) {  // does not wait for a writer, either
    const Ended ended = raylift({"cache", "verify", file});
    EXPECT_EQ(ended.code, 5);
    EXPECT_THAT(ended.err, testing::Not(HasSubstr("remove")));
  }
}

TEST_F(CacheCommand, RefusesWrongUse) {
  EXPECT_EQ(raylift({"cache"}).code, 2);
  EXPECT_EQ(raylift({"cache", "list", "--jsn"}).code, 2);
  EXPECT_THAT(raylift({"cache", "list", "--jsn"}).err, HasSubstr("'--json'"));
  EXPECT_EQ(raylift({"cache", "list", "more"}).code, 2);
  const std::string scene = root_.write("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").string();
  EXPECT_EQ(raylift({"cache", option(), scene}).code, 5);
  EXPECT_EQ(raylift({"cache", option(), "/does/not/exist.dae"}).code, 3);
  EXPECT_EQ(raylift({"cache", "verify", data_file("cube.dae")}).code, 5);
  EXPECT_EQ(raylift({"cache", option(), data_file("cube.dae")}).code, 0);
  EXPECT_EQ(raylift({"cache", option(), data_file("cube.dae"), "clear"}).code, 2);
  EXPECT_EQ(entries(), 1U);
}

}  // namespace
}  // namespace raylift::test
