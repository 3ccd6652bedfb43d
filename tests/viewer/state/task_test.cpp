// SPDX-License-Identifier: Apache-2.0
// Work on a thread of its own, and who watches it. Run under the thread sanitizer too.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "state/task.h"

namespace raylift::viewer {
namespace {

TEST(TaskOnAThread, ShowsItsProgressAndGivesItsResult) {
  Task<std::string> task([](const Progress& progress) {
    for (std::uint64_t i = 0; i <= 1000; ++i) progress.report(i < 500 ? "read" : "weld", i, 1000);
    return std::string("a scene");
  });
  float before = -1;
  while (!task.ready()) {
    const auto [stage, share] = task.progress();
    EXPECT_TRUE(stage.empty() || stage == "read" || stage == "weld") << stage;
    EXPECT_GE(share, before);
    before = share;
    std::this_thread::yield();
  }
  EXPECT_EQ(task.progress(), (std::pair<std::string, float>("weld", 1)));
  EXPECT_EQ(task.result(), "a scene");
}

TEST(TaskOnAThread, HandsItsFailureOver) {
  Task<int> task([](const Progress&) -> int { throw Error(ErrorKind::io, "the file is gone"); });
  while (!task.ready()) std::this_thread::yield();
  EXPECT_THROW((void)task.result(), Error);
}

TEST(TaskOnAThread, IsCancelledWhereNobodyWaitsForIt) {
  std::atomic<bool> began{false}, cancelled{false};
  {
    const Task<int> task([&](const Progress& progress) {
      try {
        while (true) {
          progress.report("check", 1, 0);
          began = true;
        }
      } catch (const Error& error) {
        cancelled = error.kind() == ErrorKind::cancelled;
      }
      return 0;
    });
    while (!began) std::this_thread::yield();
    EXPECT_LT(task.progress().second, 0) << "how much there is to do is not known";
  }
  EXPECT_TRUE(cancelled);
}

}  // namespace
}  // namespace raylift::viewer
