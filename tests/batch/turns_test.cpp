// SPDX-License-Identifier: Apache-2.0
// Threads that hand over by turns: in order, and all end where one fails. Run under the thread sanitizer too.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "batch/actions/turns.h"

namespace raylift::batch {
namespace {

constexpr std::uint64_t kLanes = 3, kBatches = 300;

/// Batch i is of lane i modulo kLanes; `work` does one.
template <class Work>
void run_lanes(Turns& turns, const Work& work) {
  std::vector<std::jthread> lanes;
  for (std::uint64_t lane = 0; lane != kLanes; ++lane)
    lanes.emplace_back([&, lane] {
      try {
        for (std::uint64_t batch = lane; batch < kBatches; batch += kLanes) {
          turns.wait(batch);
          work(batch);
          turns.pass(batch + 1);
        }
      } catch (...) {
        turns.fail(std::current_exception());
      }
    });
}

TEST(TurnsOfThreads, AreInOrder) {
  Turns turns;
  std::vector<std::uint64_t> seen;  // each thread writes it in its turn, without a lock of its own
  run_lanes(turns, [&](std::uint64_t batch) { seen.push_back(batch); });
  turns.rethrow();
  ASSERT_EQ(seen.size(), kBatches);
  for (std::uint64_t i = 0; i != kBatches; ++i) EXPECT_EQ(seen[i], i);
}

TEST(TurnsOfThreads, EndWhereOneFails) {
  Turns turns;
  std::uint64_t done = 0;
  run_lanes(turns, [&](std::uint64_t batch) {
    if (batch == 100) throw Error(ErrorKind::io, "the disk is full");
    ++done;
  });
  EXPECT_EQ(done, 100U);
  try {
    turns.rethrow();
    FAIL() << "the failure is lost";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io) << "the first failure, and not that of those who waited";
  }
}

}  // namespace
}  // namespace raylift::batch
