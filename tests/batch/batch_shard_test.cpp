// SPDX-License-Identifier: Apache-2.0
// raylift batch in shards: which scenes each does, by its option or in a Slurm array, and one report out of all.
#include <gmock/gmock.h>

#include "batch/run/shard.h"
#include "reports.h"

namespace raylift::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class BatchShards : public testing::Test {
 protected:
  static constexpr int kScenes = 10;
  void SetUp() override {
    std::filesystem::create_directory(path("scenes"));
    copy_scenes(path("scenes"), kScenes - 1);
    std::filesystem::copy_file(data_file("open_box.dae"), path("scenes/box.dae"));  // its answer is a negative one
  }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path() / name; }
  [[nodiscard]] std::string report(int number) const { return path("part" + std::to_string(number) + ".jsonl"); }
  [[nodiscard]] Ended batch(std::vector<std::string> arguments, const RunOptions& options = {}) const {
    arguments.insert(arguments.begin(), {"batch", path("scenes")});
    return raylift(std::move(arguments), options);
  }
  [[nodiscard]] Ended shard(int index, int count, const std::string& to) const {
    return batch({"--shard", std::to_string(index) + '/' + std::to_string(count), "--report", to});
  }
  [[nodiscard]] Ended merge(std::vector<std::string> reports) const {
    reports.insert(reports.begin(), {"batch", "--report", merged(), "--merge"});
    return raylift(std::move(reports));
  }
  [[nodiscard]] std::string merged() const { return path("merged.jsonl"); }
  /// Cuts the report after so many rows, and some bytes more.
  void cut(const std::string& report, std::size_t rows, std::size_t bytes) const {
    std::ifstream file(report);
    std::string text;
    std::string line;
    for (std::size_t i = 0; i != rows + 1 && std::getline(file, line); ++i) text += line + '\n';
    std::getline(file, line);
    file.close();
    std::ofstream(report, std::ios::trunc) << text << line.substr(0, bytes);
  }

  TemporaryFolder folder_;
};

TEST_F(BatchShards, MergeToTheReportOfOneBatch) {
  EXPECT_EQ(batch({"--sort", "--report", path("single.jsonl")}).code, 1);
  std::size_t rows = 0;
  for (int i = 0; i != 3; ++i) {
    const Ended ended = shard(i, 3, report(i));
    EXPECT_THAT(ended.out, HasSubstr("shard " + std::to_string(i) + "/3 of 10 scenes"));
    rows += rows_of(report(i)).size();
  }
  EXPECT_EQ(rows, 10U);
  const Ended ended = merge({report(2), report(0), report(1)});
  EXPECT_EQ(ended.code, 1) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("leaks, overlaps or too thin"), HasSubstr("total")));
  EXPECT_EQ(rows_in_order(merged()), rows_in_order(path("single.jsonl")));
  for (const json& row : rows_of(merged())) EXPECT_FALSE(row["run"].contains("shard"));
  // It is a report of all scenes, which can be resumed as such.
  EXPECT_EQ(batch({"--resume", "--report", merged()}).code, 1);
  EXPECT_THAT(rows_of(merged()), SizeIs(10));
}

TEST_F(BatchShards, MayBeMoreThanScenes) {
  std::vector<std::string> reports;
  for (int i = 0; i != 12; ++i) {
    reports.push_back(report(i));
    EXPECT_LE(shard(i, 12, report(i)).code, 1);
  }
  EXPECT_THAT(rows_of(report(11)), IsEmpty());
  EXPECT_EQ(merge(reports).code, 1);
  EXPECT_THAT(rows_of(merged()), SizeIs(10));
}

TEST_F(BatchShards, AreNotMergedWhereOneIsMissingOrThereTwice) {
  for (int i = 0; i != 3; ++i) (void)shard(i, 3, report(i));
  const Ended missing = merge({report(0), report(2)});
  EXPECT_EQ(missing.code, 2);
  EXPECT_THAT(missing.err, HasSubstr("3 scenes have no row: shard 1/3 lacks 3 of 3"));
  const Ended twice = merge({report(0), report(1), report(2), report(1)});
  EXPECT_EQ(twice.code, 2);
  EXPECT_THAT(twice.err, HasSubstr("shard 1/3 is there twice: scene"));
  (void)shard(0, 2, report(3));
  const Ended other = merge({report(0), report(1), report(3)});
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("the report is of another batch"));
  (void)batch({"--shard", "2/3", "--unit", "inch", "--report", report(4)});
  const Ended inches = merge({report(0), report(1), report(4)});
  EXPECT_EQ(inches.code, 2);
  EXPECT_THAT(inches.err, AllOf(HasSubstr("another --unit: 25.4 there, not given here"), HasSubstr(report(4))));
  EXPECT_FALSE(std::filesystem::exists(merged()));
}

TEST_F(BatchShards, GoOnWhereTheyWereAndAreMergedOnlyThen) {
  for (int i = 0; i != 2; ++i) (void)shard(i, 2, report(i));
  cut(report(1), 3, 20);
  const Ended torn = merge({report(0), report(1)});
  EXPECT_EQ(torn.code, 2);
  EXPECT_THAT(torn.err, HasSubstr("shard 1/2 lacks 2 of 5"));
  const Ended resumed = batch({"--shard", "1/2", "--resume", "--report", report(1)});
  EXPECT_THAT(resumed.out, HasSubstr("2 scenes in "));
  EXPECT_EQ(merge({report(0), report(1)}).code, 1);
}

TEST_F(BatchShards, DoNotResumeAnotherOne) {
  (void)shard(0, 2, report(0));
  const std::vector<std::string> resume{"--resume", "--report", report(0)};
  for (const std::vector<std::string>& other : {std::vector<std::string>{"--shard", "1/2"}, {"--shard", "0/3"}, {}}) {
    std::vector<std::string> arguments = resume;
    arguments.insert(arguments.end(), other.begin(), other.end());
    const Ended ended = batch(arguments);
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, HasSubstr("the report's rows are of shard 0/2 of 10 scenes"));
  }
  // Another list has other scenes under the same numbers.
  const Ended longer = batch({"--shard", "0/2", "--resume", "--report", report(0), data_file("cube.dae")});
  EXPECT_EQ(longer.code, 2);
  EXPECT_THAT(longer.err, HasSubstr("and this is shard 0/2 of 11 scenes"));
}

TEST_F(BatchShards, AreMergedFromReportsOnly) {
  EXPECT_EQ(batch({"--report", path("single.jsonl")}).code, 1);
  const Ended whole = merge({path("single.jsonl")});
  EXPECT_EQ(whole.code, 4);
  EXPECT_THAT(whole.err, AllOf(HasSubstr("no row of a shard"), HasSubstr("line 2")));
  const std::string head = R"({"report":"raylift batch","version":"1","folder":"/","do":[],"options":{}})"
                           "\n";
  for (const std::string text :
       {"x\n", "{}\n", "[1]\n", "\n",
        R"({"file":"a","do":[],"status":"ok","run":{"shard":{"index":0}}})"
        "\n",
        R"({"file":"a","do":[],"status":"ok","run":{"shard":{"index":0,"count":0,"scene":0,"scenes":1}}})"
        "\n",
        R"({"file":"a","do":[],"status":"ok","run":{"shard":{"index":0,"count":2,"scene":1,"scenes":2}}})"
        "\n",
        R"({"file":"a","do":[],"status":"ok","run":{"shard":{"index":-1,"count":2,"scene":7,"scenes":2}}})"
        "\n"}) {
    for (const std::string& before : {std::string(), head}) {
      std::ofstream(path("odd"), std::ios::trunc) << before << text;
      EXPECT_EQ(merge({path("odd")}).code, 4) << before << text;
    }
  }
  std::ofstream(path("odd"), std::ios::trunc)
      << head
      << R"({"file":"a","do":[],"status":"ok","run":{"shard":{"index":1,"count":4000000000000,"scene":1,"scenes":9000000000000}}})"
      << '\n';
  const Ended huge = merge({path("odd")});
  EXPECT_EQ(huge.code, 2);
  EXPECT_THAT(huge.err, HasSubstr("8,999,999,999,999 scenes have no row: shard 0/4000000000000 lacks 3 of 3"));
  std::ofstream(path("odd"), std::ios::trunc) << "";
  EXPECT_EQ(merge({path("odd")}).code, 2);
  EXPECT_EQ(merge({path("nowhere")}).code, 3);
  const Ended folder = merge({path("scenes")});
  EXPECT_EQ(folder.code, 2);
  EXPECT_THAT(folder.err, HasSubstr("a folder is no report"));
  EXPECT_EQ(raylift({"batch", "--merge", path("odd")}).code, 2);  // no --report
  EXPECT_EQ(raylift({"batch", "--merge", "--resume", "--report", merged(), path("odd")}).code, 2);
}

TEST_F(BatchShards, AreNamedByANumberAndTheirCount) {
  for (const std::string text : {"", "1", "/", "1/", "/2", "2/2", "0/0", "-1/2", "1/2/3", "a/2", "0/b", " 0/2", "+0/2",
                                 "99999999999999999999/99999999999999999999"}) {
    const Ended ended = batch({"--shard=" + text});
    EXPECT_EQ(ended.code, 2) << text;
    EXPECT_THAT(ended.err, HasSubstr("--shard")) << text;
  }
  EXPECT_EQ(batch::parse_shard("11/12").index, 11U);
  EXPECT_EQ(batch::parse_shard("11/12").count, 12U);
}

std::vector<std::string> slurm_task(const std::string& id, const std::string& least, const std::string& most,
                                    const std::string& step, const std::string& count) {
  return {"SLURM_ARRAY_TASK_ID=" + id, "SLURM_ARRAY_TASK_MIN=" + least, "SLURM_ARRAY_TASK_MAX=" + most,
          "SLURM_ARRAY_TASK_STEP=" + step, "SLURM_ARRAY_TASK_COUNT=" + count};
}

TEST_F(BatchShards, ComeFromSlurmsArray) {
  const RunOptions task{slurm_task("5", "1", "9", "4", "3"), ""};
  EXPECT_THAT(batch({}, task).out, HasSubstr("shard 1/3 of 10 scenes"));
  EXPECT_THAT(batch({"--shard", "0/2"}, task).out, HasSubstr("shard 0/2 of 10 scenes"));
  EXPECT_THAT(batch({"--shard", "0/1"}, task).out, HasSubstr("10 scenes in "));
  for (const auto& gaps : {slurm_task("2", "1", "7", "1", "3"), slurm_task("7", "1", "7", "2", "3"),
                           slurm_task("x", "1", "7", "1", "7"), slurm_task("1", "1", "1", "0", "1")}) {
    const Ended ended = batch({}, {gaps, ""});
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, HasSubstr("--shard"));
  }
  const Ended incomplete = batch({}, {{"SLURM_ARRAY_TASK_ID=1"}, ""});
  EXPECT_EQ(incomplete.code, 2);
  EXPECT_THAT(incomplete.err, HasSubstr("SLURM_ARRAY_TASK_MIN is not set"));
}

}  // namespace
}  // namespace raylift::test
