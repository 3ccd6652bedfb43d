// SPDX-License-Identifier: Apache-2.0
// Whatever happens to the child of an isolated import: an Error, and nothing left behind.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <raylift/geometry/import/load.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <tbb/global_control.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "collada_documents.h"
#include "import/sanitized.h"
#include "isolated_load.h"
#include "support/effort.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "support/processes.h"

namespace raylift {
namespace {

namespace fs = std::filesystem;
using test::children_of;
using test::Clock;
using test::eventually;
using test::expect_error;
using test::seconds_since;
using ::testing::HasSubstr;

class IsolateFaults : public test::IsolatedLoad {};

TEST_F(IsolateFaults, NamesTheSignalOfACrash) {
  fault("segv");
  const Error crash = error_of(ErrorKind::malformed);
  fault("abort");
  const Error abort = error_of(ErrorKind::malformed);
  if (kSanitized) return;
  EXPECT_THAT(crash.what(), HasSubstr("SIGSEGV"));
  EXPECT_THAT(abort.what(), HasSubstr("SIGABRT"));
}

TEST_F(IsolateFaults, DoesNotBlameTheFileForASignalThatAsksToEnd) {
  fault("term");
  EXPECT_EQ(error_of(ErrorKind::cancelled).signal(), SIGTERM);
}

TEST_F(IsolateFaults, EndsAHangAtTheTimeLimit) {
  fault("hang");
  options_.limits.isolate_seconds = 0.3;
  const auto start = Clock::now();
  const Error error = error_of(ErrorKind::limit);
  EXPECT_GE(seconds_since(start), 0.3);
  EXPECT_LT(seconds_since(start), 5);
  EXPECT_THAT(error.what(), HasSubstr("0.3"));
}

TEST_F(IsolateFaults, EndsAMemoryBombAtTheMemoryLimit) {
  fault("memory");
  options_.limits.isolate_bytes = std::uint64_t{1} << 30;
  const Error error = error_of(ErrorKind::limit);
  EXPECT_THAT(error.what(), HasSubstr("memory"));
}

/// Wherever memory runs out, in raylift or in an importer, it is no fault of the file.
TEST_F(IsolateFaults, BlamesNoFileForTheMemoryLimit) {
  path_ = folder_.write("grid.dae", test::grid_document(kSanitized ? 300 : 700));
  const auto loads = [&](std::uint64_t limit) {
    options_.limits.isolate_bytes = limit;
    try {
      (void)load(path_, options_);
      return true;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::limit) << limit << ": " << error.what();
      EXPECT_THAT(error.what(), HasSubstr("LoadLimits::isolate_bytes")) << limit;
      return false;
    }
  };
  // The least that is enough, and then down from there, past all that is taken one after the other.
  const std::uint64_t bytes = std::filesystem::file_size(path_);
  std::uint64_t little = 3 * bytes;
  std::uint64_t enough = std::uint64_t{1} << 30;
  ASSERT_TRUE(loads(enough));
  while (enough - little > bytes / 4) {
    const std::uint64_t middle = little + (enough - little) / 2;
    (loads(middle) ? enough : little) = middle;
  }
  for (std::uint64_t limit = little; limit + 8 * bytes > enough && limit > 3 * bytes;
       limit -= test::kStride * bytes / 3)
    loads(limit);
}

/// Where TBB starts no threads, on one processor, the import needs none.
TEST_F(IsolateFaults, CallsAThreadThatHasNoMemoryForItsStackALimit) {
  if (kSanitized) return;  // no limit is set
  path_ = test::data("detector.dae");
  options_.limits.isolate_bytes = std::uint64_t{1} << 30;
  fault("stacks");
  if (tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism) == 1) {
    EXPECT_NO_THROW((void)load(path_, options_));
    return;
  }
  const Error error = error_of(ErrorKind::limit);
  EXPECT_EQ(error.problem(), "no memory left to start a thread under the import's memory limit");
  EXPECT_THAT(error.what(), HasSubstr("LoadLimits::isolate_bytes"));
}

TEST_F(IsolateFaults, ReportsAnEndWithoutAResult) {
  fault("exit");
  const Error error = error_of(ErrorKind::malformed);
  EXPECT_THAT(error.what(), HasSubstr("42"));
}

TEST_F(IsolateFaults, RefusesGarbage) {
  fault("garbage");
  error_of(ErrorKind::malformed);
}

// The file is within the limit, and so is a copy of it, but not both together.
TEST_F(IsolateFaults, TakesNoMoreMemoryForTheResultThanTheImportMay) {
  options_.limits.isolate_bytes = std::uint64_t{1} << 30;
  fault("hole 1000000000");
  EXPECT_THAT(error_of(ErrorKind::limit).what(), HasSubstr("memory"));
}

TEST_F(IsolateFaults, SurvivesAResultThatIsTakenFromUnderIt) {
  path_ = folder_.write("grid.dae", test::grid_document(200));
  fault("keep");
  for (int i = 0; i != 5; ++i) EXPECT_THAT(error_of(ErrorKind::malformed).what(), HasSubstr("keeps its result mapped"));
}

TEST_F(IsolateFaults, EndsAFloodOfMessagesAtTheTimeLimit) {
  fault("flood");
  options_.limits.isolate_seconds = 0.3;
  const auto start = Clock::now();
  // Slower than the messages come.
  const Progress progress([&](auto, auto, auto) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return seconds_since(start) < 8;
  });
  error_of(ErrorKind::limit, progress);
}

TEST_F(IsolateFaults, TakesNoErrorThatIsNotAFiles) {
  fault("forge");
  EXPECT_THAT(error_of(ErrorKind::malformed).what(), HasSubstr("usage"));
}

TEST_F(IsolateFaults, CanBeCancelled) {
  fault("hang");
  const auto start = Clock::now();
  const Progress progress([&](auto, auto, auto) { return seconds_since(start) < 0.2; });
  expect_error(ErrorKind::cancelled, [&] { (void)load(path_, options_, progress); });
  EXPECT_LT(seconds_since(start), 5);
}

TEST_F(IsolateFaults, FaultsStayInTheChild) {
  fault("segv");
  options_.isolate = false;
  EXPECT_EQ(load(path_, options_).unique_triangles(), 12U);
  options_.isolate = true;
}

// The program -------------------------------------------------------------------------------------------------------

TEST_F(IsolateFaults, SaysWhereItLookedForTheProgram) {
  options_.import_program = "/nowhere/raylift-import";
  const Error error = expect_error(ErrorKind::usage, [&] { (void)load(path_, options_); });
  EXPECT_THAT(error.what(), HasSubstr("/nowhere/raylift-import"));
  EXPECT_THAT(error.what(), HasSubstr("RAYLIFT_IMPORT"));
}

TEST_F(IsolateFaults, FindsTheProgramInTheEnvironmentAndBesideItself) {
  options_.import_program.clear();
  EXPECT_NO_THROW((void)load(path_, options_)) << "beside this program";
  ::setenv("RAYLIFT_IMPORT", "/nowhere/raylift-import", 1);
  const Error error = expect_error(ErrorKind::usage, [&] { (void)load(path_, options_); });
  EXPECT_THAT(error.what(), HasSubstr("/nowhere/raylift-import"));
  ::setenv("RAYLIFT_IMPORT", test::program("raylift-import").c_str(), 1);
  EXPECT_NO_THROW((void)load(path_, options_));
  ::unsetenv("RAYLIFT_IMPORT");
}

TEST_F(IsolateFaults, SurvivesAProgramThatIsAnotherOne) {
  options_.import_program = "/bin/true";
  error_of(ErrorKind::malformed);
  options_.import_program = "/bin/false";
  error_of(ErrorKind::malformed);
  options_.import_program = folder_.write("script", "not even a program");
  fs::permissions(options_.import_program, fs::perms::owner_all);
  expect_error(ErrorKind::io, [&] { (void)load(path_, options_); });
}

// The process -------------------------------------------------------------------------------------------------------

TEST_F(IsolateFaults, WorksWhereTheParentIgnoresItsChildrensEnds) {
  const auto before = ::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(load(path_, options_).unique_triangles(), 12U);
  fault("segv");
  error_of(ErrorKind::malformed);
  fault("hang");
  options_.limits.isolate_seconds = 0.2;
  error_of(ErrorKind::limit);
  ::signal(SIGCHLD, before);
}

TEST_F(IsolateFaults, WorksInManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i != 8; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k != 4; ++k) good += load(path_, options_).unique_triangles() == 12 ? 1 : 0;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 32);
}

TEST_F(IsolateFaults, GivesTheChildNoDescriptorsButItsOwn) {
  fault("hang");
  const int leaky = ::open("/dev/null", O_RDONLY);  // without close-on-exec
  std::vector<std::string> found;
  std::atomic<bool> looked = false;
  std::thread watcher([&] {
    looked = eventually([&] {
      found.clear();
      for (const pid_t child : children_of(::getpid())) {
        std::error_code error;
        for (fs::directory_iterator entry("/proc/" + std::to_string(child) + "/fd", error), end; !error && entry != end;
             entry.increment(error))
          found.push_back(entry->path().filename().string() + " " + fs::read_symlink(entry->path(), error).string());
        if (error) found.clear();
      }
      return found.size() == 8;
    });
  });
  options_.limits.isolate_seconds = 12;
  const auto progress = Progress([&](auto, auto, auto) { return !looked; });
  EXPECT_THROW((void)load(path_, options_, progress), Error);
  watcher.join();
  ::close(leaky);
  if (::geteuid() != 0 && !looked) GTEST_SKIP() << "may not look at the child";
  ASSERT_TRUE(looked) << ::testing::PrintToString(found);
  for (const std::string& one : found) {
    if (one.starts_with("0 ") || one.starts_with("1 ")) {
      EXPECT_THAT(one, HasSubstr("/dev/null"));
    }
  }
}

TEST_F(IsolateFaults, TheChildEndsWithItsParent) {
  fault("hang");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t parent = ::fork();
  if (parent == 0) {
    try {
      (void)load(path_, options_);
    } catch (...) {
    }
    ::_exit(0);
  }
  std::vector<pid_t> grandchildren;
  EXPECT_TRUE(eventually([&] { return !(grandchildren = children_of(parent)).empty(); }));
  // Give it the time to become raylift-import and to ask for its end.
  EXPECT_TRUE(eventually([&] {
    std::ifstream name("/proc/" + std::to_string(grandchildren.at(0)) + "/comm");
    std::string text;
    return std::getline(name, text) && text.starts_with("raylift-import");
  }));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  int status = 0;
  pid_t reaped = 0;
  EXPECT_TRUE(eventually([&] { return (reaped = ::waitpid(-1, &status, WNOHANG)) > 0; })) << "it lives on";
  EXPECT_EQ(reaped, grandchildren.at(0));
  EXPECT_TRUE(WIFSIGNALED(status));
  for (const pid_t left : children_of(::getpid())) {
    ::kill(left, SIGKILL);
    ::waitpid(left, nullptr, 0);
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST_F(IsolateFaults, LeavesNothingInSharedMemoryOrTheTemporaryFolder) {
  const auto count = [](const char* folder) {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  };
  // Other programs put files there at the same time. What a load left would be there once for each.
  constexpr std::ptrdiff_t kLoads = kSanitized ? 15 : 40;
  const auto before = count("/dev/shm");
  for (std::ptrdiff_t i = 0; i != kLoads; ++i) (void)load(path_, options_);
  fault("segv");
  for (std::ptrdiff_t i = 0; i != kLoads; ++i) error_of(ErrorKind::malformed);
  EXPECT_LT(count("/dev/shm"), before + kLoads);
  EXPECT_EQ(count(folder_.path().c_str()), 1);
}

}  // namespace
}  // namespace raylift
