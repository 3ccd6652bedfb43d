// SPDX-License-Identifier: Apache-2.0
// raylift batch when it is killed, interrupted, or can't write: no row is lost, doubled or torn.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <chrono>
#include <set>
#include <thread>

#include "batch/run/report.h"
#include "reports.h"
#include "support/file_size_limit.h"
#include "support/processes.h"

namespace raylift::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::SizeIs;

class BatchKilled : public CopiesOfAScene {
 protected:
  static constexpr int kScenes = 40;
  BatchKilled() : CopiesOfAScene(kScenes) {}
  [[nodiscard]] std::vector<std::string> arguments(bool resume) const {
    std::vector<std::string> result{"batch", "--jobs", "2", "--report", report(), scenes()};
    if (resume) result.emplace_back("--resume");
    return result;
  }
  /// Every scene has one row, and nothing else is there.
  void expect_complete() const {
    std::multiset<std::string> files;
    for (const json& row : rows_of(report())) files.insert(row["file"].get<std::string>());
    EXPECT_EQ(files.size(), static_cast<std::size_t>(kScenes));
    EXPECT_EQ(std::set<std::string>(files.begin(), files.end()).size(), static_cast<std::size_t>(kScenes));
  }
  void wait_for_rows(std::size_t count) const {
    for (int i = 0; i != 2000; ++i) {
      const std::string now = text();
      if (static_cast<std::size_t>(std::count(now.begin(), now.end(), '\n')) >= count) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    FAIL() << "no rows came";
  }

  /// Until the batch's workers read that many scenes.
  static void wait_for_imports(const Running& running, std::size_t count) {
    for (int i = 0; i != 2000; ++i) {
      std::size_t imports = 0;
      for (const pid_t worker : children_of(running.pid())) imports += children_of(worker).size();
      if (imports >= count) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    FAIL() << "no scenes were begun";
  }

  /// To the workers of this test's batch; how many there were.
  [[nodiscard]] int signal_workers(int number) const {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string environment = bytes_in(entry.path() / "environ");
      const std::string line = bytes_in(entry.path() / "cmdline");
      if (line.find(scenes()) == std::string::npos || environment.find("RAYLIFT_BATCH_WORKER=") == std::string::npos)
        continue;
      ::kill(std::stoi(entry.path().filename().string()), number);
      ++count;
    }
    return count;
  }
};

TEST_F(BatchKilled, GoesOnWhereItWas) {
  int kills = 0;
  std::size_t before = 0;
  for (bool resume = false; before < kScenes - 10; resume = true, ++kills) {
    Running running(arguments(resume));
    wait_for_rows(before + 5);
    running.signal(SIGKILL);
    EXPECT_EQ(running.wait().code, 128 + SIGKILL);
    before = static_cast<std::size_t>(std::ranges::count(text(), '\n'));
  }
  EXPECT_GE(kills, 2);
  EXPECT_EQ(raylift(arguments(true)).code, 0);
  expect_complete();
}

TEST_F(BatchKilled, CutsOffATornRow) {
  ASSERT_EQ(raylift(arguments(false)).code, 0);
  const std::string whole = text();
  const std::size_t last = whole.rfind('\n', whole.size() - 2) + 1;
  for (const std::size_t keep : {last + 1, last + 20, whole.size() - 1}) {
    std::ofstream(report(), std::ios::binary | std::ios::trunc) << whole.substr(0, keep);
    const Ended ended = raylift(arguments(true));
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("1 scene in "));
    expect_complete();
  }
}

TEST_F(BatchKilled, HasNothingToDoWhenAllIsDone) {
  ASSERT_EQ(raylift(arguments(false)).code, 0);
  const std::string whole = text();
  EXPECT_EQ(raylift(arguments(true)).code, 0);
  EXPECT_EQ(text(), whole);
}

TEST_F(BatchKilled, DoesNotTouchAReportThatIsThere) {
  ASSERT_EQ(raylift(arguments(false)).code, 0);
  const std::string whole = text();
  const Ended again = raylift(arguments(false));
  EXPECT_EQ(again.code, 2);
  EXPECT_THAT(again.err, HasSubstr("--resume"));
  std::vector<std::string> other = arguments(true);
  other.insert(other.end(), {"--do", "info"});
  EXPECT_EQ(raylift(other).code, 2);  // its rows are of another batch
  EXPECT_EQ(text(), whole);
  std::ofstream(report(), std::ios::binary | std::ios::app) << "this is no row\n";
  const Ended odd = raylift(arguments(true));
  EXPECT_EQ(odd.code, 4);
  EXPECT_THAT(odd.err, HasSubstr("line 42"));
}

TEST_F(BatchKilled, LeavesAloneWhatIsNoReport) {
  ASSERT_EQ(raylift({"batch", "--report", report(), data_file("cube.dae")}).code, 0);
  const std::string head = text().substr(0, text().find('\n') + 1);
  for (const std::string other : {"another program's file", "x", "{\"file\": 1", "\n", "{}\n",
                                  "{\"file\":\"a\",\"do\":[\"info\",\"check\"],\"status\":7}\n",
                                  "{\"file\":\"a\",\"do\":[\"info\",\"check\"],\"status\":\"failed\"}\n",
                                  "{\"file\":7,\"do\":[\"info\",\"check\"],\"status\":\"ok\"}\n",
                                  "{\"file\":\"a\",\"do\":[[]],\"status\":\"ok\"}\n"}) {
    for (const std::string& before : {std::string(), head}) {
      std::ofstream(report(), std::ios::binary | std::ios::trunc) << before << other;
      const Ended ended = raylift(arguments(true));
      EXPECT_EQ(ended.code, 4) << other << ended.err;
      EXPECT_THAT(ended.err, HasSubstr(report()));
      EXPECT_EQ(text(), before + other);
    }
  }
}

TEST_F(BatchKilled, DoesNotShareItsReportWithItsSummary) {
  EXPECT_EQ(raylift(arguments(false), {{}, report()}).code, 2);
  EXPECT_EQ(text(), "");
}

TEST_F(BatchKilled, IsAloneOnItsReport) {
  const RunOptions slow = import_fault("hang");
  Running first(arguments(false), slow);
  for (int i = 0; i != 1000 && !std::filesystem::exists(report()); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const Ended second = raylift(arguments(true));
  EXPECT_EQ(second.code, 3);
  EXPECT_THAT(second.err, HasSubstr("another batch"));
}

TEST_F(BatchKilled, TakesItsWorkersAndImportsAlong) {
  Running running(arguments(false), import_fault("hang", {"RAYLIFT_TEST_MARK=" + scenes()}));
  const auto alive = [&] {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string environment = bytes_in(entry.path() / "environ");
      if (environment.find("RAYLIFT_TEST_MARK=" + scenes()) != std::string::npos) ++count;
    }
    return count;
  };
  for (int i = 0; i != 500 && alive() < 3; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_GE(alive(), 3);
  running.signal(SIGKILL);
  (void)running.wait();
  for (int i = 0; i != 500 && alive() != 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(alive(), 0);
}

TEST_F(BatchKilled, OutlivesItsWorkers) {
  Running running(arguments(false), import_fault("hang"));
  for (int i = 0; i != 2000 && std::ranges::count(text(), '\n') < 4; ++i) {
    (void)signal_workers(SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  running.signal(SIGKILL);
  (void)running.wait();
  EXPECT_GE(rows_of(report()).size(), 3U);
  for (const json& row : rows_of(report())) EXPECT_EQ(row["error"]["signal"], "SIGKILL");
}

TEST_F(BatchKilled, DoesAgainWhatWasStoppedByASignal) {
  Running running(arguments(false), faulty({"RAYLIFT_BATCH_SLOW=20"}));
  wait_for_rows(3);
  EXPECT_GE(signal_workers(SIGTERM), 1);
  const Ended ended = running.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  expect_complete();
}

TEST_F(BatchKilled, GivesUpWhatIsStoppedByASignalEachTime) {
  const std::string scene = scenes() + "/scene0.dae";
  Running running({"batch", "--report", report(), scene}, import_fault("hang"));
  for (int i = 0; i != 2000 && text().empty(); ++i) {
    (void)signal_workers(SIGTERM);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(running.wait().code, 130);
  ASSERT_THAT(rows_of(report()), SizeIs(1));
  EXPECT_EQ(rows_of(report()).at(0)["error"]["kind"], "cancelled");
}

TEST_F(BatchKilled, FinishesWhatIsUnderWayWhenInterrupted) {
  for (const int number : {SIGINT, SIGTERM}) {
    std::filesystem::remove(report());
    Running running(arguments(false));
    wait_for_rows(3);
    running.signal(number);
    const Ended ended = running.wait();
    EXPECT_EQ(ended.code, 128 + number);
    EXPECT_THAT(ended.err, HasSubstr("--resume"));
    EXPECT_THAT(ended.out, HasSubstr("not done"));
    for (const json& row : rows_of(report())) EXPECT_EQ(row["status"], "ok");
    EXPECT_EQ(raylift(arguments(true)).code, 0);
    expect_complete();
  }
}

TEST_F(BatchKilled, AnswersAnInterruptAtOnce) {
  Running running({"batch", "--jobs", "2", "--report", report(), scenes()}, import_fault("hang"));
  wait_for_imports(running, 2);
  running.signal(SIGINT);
  const auto said = [&] { return running.said(); };
  for (int i = 0; i != 400 && said().empty(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_THAT(said(), HasSubstr("interrupted: finishing 2 scenes; again to stop at once"));
  running.signal(SIGINT);
  EXPECT_EQ(running.wait().code, 128 + SIGINT);
}

TEST_F(BatchKilled, SaysFromTimeToTimeHowFarItIs) {
  const std::string broken = folder_.write("scenes/a.dae", "<COLLADA>");
  std::vector<std::string> slow{"batch", "--jobs", "1", "--report", report(), broken};
  for (int i = 0; i != 5; ++i) slow.push_back(scenes() + "/scene" + std::to_string(i) + ".dae");
  const RunOptions often = faulty({"RAYLIFT_BATCH_SLOW=200", "RAYLIFT_BATCH_LINES=50"});
  const Ended ended = raylift(slow, often);
  EXPECT_THAT(ended.err,
              testing::ContainsRegex(
                  "raylift: [1-5] scenes? done, [01] failed, [1-5] remaining, [0-9.]+ scenes/s; for [01] s: /"));
  std::filesystem::remove(report());
  slow.insert(slow.begin() + 1, "--no-progress");
  EXPECT_THAT(raylift(slow, often).err, testing::Not(HasSubstr("remaining")));
}

TEST_F(BatchKilled, EndsAtOnceAtTheSecondInterrupt) {
  Running running(arguments(false), import_fault("hang"));
  wait_for_imports(running, 1);
  running.signal(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  running.signal(SIGINT);
  EXPECT_EQ(running.wait().code, 128 + SIGINT);
}

TEST_F(BatchKilled, SaysThatTheDiskIsFull) {
  const Ended ended = raylift({"batch", "--report", "/dev/full", data_file("cube.dae")});
  EXPECT_EQ(ended.code, 3);
  EXPECT_THAT(ended.err, HasSubstr("No space left on device"));
}

TEST(BatchReport, LeavesNoHalfRowOnAFullDisk) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "report.jsonl";
  cli::Json row;
  batch::set_file(row, std::string(60, 'x'));
  row["do"] = cli::Json::array();
  row["status"] = "ok";
  const cli::Json head = {{"report", "raylift batch"},
                          {"version", "1"},
                          {"folder", "/"},
                          {"do", cli::Json::array()},
                          {"options", cli::Json::object()}};
  {
    const FileSizeLimit limit(head.dump().size() + 200);  // the head, two rows and a half
    batch::Report report(path, batch::Report::Mode::fresh, head);
    report.append(row);
    report.append(row);
    EXPECT_THROW(report.append(row), Error);
  }
  EXPECT_THAT(rows_of(path), SizeIs(2));
  int earlier = 0;
  batch::Report report(path, batch::Report::Mode::resume, head, [&](const cli::Json&, const cli::Json&) { ++earlier; });
  report.append(row);
  report.finish();
  EXPECT_EQ(earlier, 2);
  EXPECT_THAT(rows_of(path), SizeIs(3));
}

TEST_F(BatchKilled, SaysThatTheReportCannotBeWritten) {
  EXPECT_EQ(raylift({"batch", "--report", "/proc/version", data_file("cube.dae")}).code, 3);
  EXPECT_EQ(raylift({"batch", "--report", folder_.path(), data_file("cube.dae")}).code, 3);
  EXPECT_EQ(raylift({"batch", "--report", "/does/not/exist/report", data_file("cube.dae")}).code, 3);
  if (::geteuid() == 0) return;  // root writes everywhere
  std::ofstream(report()) << "";
  ::chmod(report().c_str(), 0400);
  const Ended ended = raylift(arguments(true));
  EXPECT_EQ(ended.code, 3);
  EXPECT_THAT(ended.err, HasSubstr("Permission denied"));
}

}  // namespace
}  // namespace raylift::test
