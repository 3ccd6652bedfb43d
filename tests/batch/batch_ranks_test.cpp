// SPDX-License-Identifier: Apache-2.0
// raylift batch under mpirun: one report, scenes dealt out to all ranks, and what a rank that is lost comes to.
// Skips, visibly, where there is no mpirun, or raylift was built without MPI.
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
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class BatchRanks : public CopiesOfAScene {
 protected:
  static constexpr int kScenes = 60;

  BatchRanks() : CopiesOfAScene(kScenes) {}
  void SetUp() override {
    if (!std::filesystem::exists(program("raylift-mpi.so"))) GTEST_SKIP() << "raylift was built without MPI";
    if (std::system("mpirun --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "there is no mpirun";
  }
  [[nodiscard]] std::string said() const { return bytes_in(folder_.path() / "said"); }
  /// Runs the batch under mpirun, by the shell. Returns the exit code.
  [[nodiscard]] int run(const std::string& mpirun, const std::string& arguments, const std::string& before = "") const {
    // OpenMPI leaves memory of its own behind, which the leak sanitizer would take for ours.
    const std::string command = before +
                                " ASAN_OPTIONS=detect_leaks=0 HWLOC_COMPONENTS=-gl OMPI_ALLOW_RUN_AS_ROOT=1 "
                                "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 100 mpirun "
                                "--oversubscribe --bind-to none " +
                                mpirun + ' ' + program(before.empty() ? "raylift" : "raylift-faulty").string() +
                                " batch --jobs 1 --report " + report() + ' ' + scenes() + ' ' + arguments + " > " +
                                (folder_.path() / "said").string() + " 2>&1";
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  }
  /// Every scene has one row.
  [[nodiscard]] std::set<int> expect_complete() const {
    std::set<int> ranks;
    std::set<std::string> files;
    for (const json& row : rows_of(report())) {
      ranks.insert(row["run"]["rank"].get<int>());
      EXPECT_TRUE(files.insert(row["file"].get<std::string>()).second);
      EXPECT_EQ(row["status"], "ok");
    }
    EXPECT_EQ(files.size(), static_cast<std::size_t>(kScenes));
    return ranks;
  }
  [[nodiscard]] std::size_t rows() const { return static_cast<std::size_t>(std::ranges::count(text(), '\n')); }
  /// The process of a rank; 0 where it is not there.
  [[nodiscard]] pid_t process_of(int rank) const {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string environment = bytes_in(entry.path() / "environ");
      const std::string line = bytes_in(entry.path() / "cmdline");
      if (line.find(report()) == std::string::npos || environment.find("RAYLIFT_BATCH_WORKER=") != std::string::npos ||
          environment.find("OMPI_COMM_WORLD_RANK=" + std::to_string(rank) + '\0') == std::string::npos)
        continue;
      return std::stoi(entry.path().filename().string());
    }
    return 0;
  }

  /// A slow batch of three ranks, one of which gets a signal in the middle of it. Returns mpirun's exit code.
  [[nodiscard]] int run_and_signal(int rank, int number) const {
    int code = -1;
    std::thread runner([&] { code = run("-n 3", "", "RAYLIFT_BATCH_SLOW=50"); });
    for (int i = 0; i != 2000 && rows() < 5; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const pid_t process = process_of(rank);
    EXPECT_NE(process, 0);
    if (process != 0) ::kill(process, number);
    runner.join();
    return code;
  }
};

TEST_F(BatchRanks, ShareTheScenesAndWriteOneReport) {
  EXPECT_EQ(run("-n 3", "--sort"), 0) << said();
  EXPECT_THAT(said(), HasSubstr("60 scenes in "));
  EXPECT_THAT(expect_complete(), UnorderedElementsAre(0, 1, 2));
  const std::string alone = folder_.path() / "alone.jsonl";
  EXPECT_EQ(raylift({"batch", "--sort", "--report", alone, scenes()}).code, 0);
  EXPECT_EQ(rows_in_order(report()), rows_in_order(alone));
}

TEST_F(BatchRanks, EndTogetherWhereTheFirstOneFails) {
  EXPECT_EQ(run("-n 3", "/does/not/exist.dae"), 3);
  EXPECT_THAT(said(), HasSubstr("/does/not/exist.dae"));
}

TEST_F(BatchRanks, EndTogetherWhereTheReportCannotGrow) {
  std::filesystem::create_symlink("/dev/full", report());
  EXPECT_EQ(run("-n 3", ""), 3);
  EXPECT_THAT(said(), HasSubstr("No space left on device"));
}

TEST_F(BatchRanks, EndWithARankThatIsLostAndGoOnByResume) {
  for (const int lost : {1, 0}) {
    std::filesystem::remove(report());
    EXPECT_NE(run_and_signal(lost, SIGKILL), 0);
    EXPECT_LT(rows(), static_cast<std::size_t>(kScenes));
    EXPECT_EQ(run("-n 2", "--resume"), 0) << said();
    (void)expect_complete();
  }
}

TEST_F(BatchRanks, FinishInOrderWhenOneOfThemIsInterrupted) {
  EXPECT_EQ(run_and_signal(2, SIGTERM), 130);
  EXPECT_THAT(said(), AllOf(HasSubstr("interrupted; go on by --resume"), HasSubstr("not done")));
  EXPECT_LT(rows(), static_cast<std::size_t>(kScenes));
  for (const json& row : rows_of(report())) EXPECT_EQ(row["status"], "ok");
  EXPECT_EQ(run("-n 2", "--resume"), 0) << said();
  (void)expect_complete();
}

TEST_F(BatchRanks, GoOnWithoutADeadDevice) {
  for (const auto& [devices, dead] : {std::pair{"cuda:0,host", 0}, {"host,cuda:0", 1}}) {
    std::filesystem::remove(report());
    // Each rank has one of the devices.
    EXPECT_EQ(run("-n 2", std::string("--do upload --device ") + devices, "RAYLIFT_BATCH_DEAD_DEVICE=cuda:0=gone"), 0)
        << said();
    EXPECT_THAT(said(), HasSubstr("cuda:0 of rank " + std::to_string(dead) + " on "));
    EXPECT_THAT(expect_complete(), UnorderedElementsAre(1 - dead));
  }
}

TEST_F(BatchRanks, StopWhereAllDevicesAreDead) {
  EXPECT_EQ(run("-n 2", "--do upload --device host", "RAYLIFT_BATCH_DEAD_DEVICE=host=gone"), 9) << said();
  EXPECT_THAT(said(), HasSubstr("--resume"));
  EXPECT_EQ(rows(), 0U);
}

TEST(BatchRanksWithoutMpi, SayWhatIsMissing) {
  const Ended ended =
      raylift({"batch", data_file("cube.dae")}, {{"OMPI_COMM_WORLD_SIZE=2", "RAYLIFT_MPI=/nowhere"}, ""});
  EXPECT_EQ(ended.code, 5);
  EXPECT_THAT(ended.err, HasSubstr("without MPI"));
}

}  // namespace
}  // namespace raylift::test
