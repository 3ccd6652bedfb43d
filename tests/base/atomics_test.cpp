// SPDX-License-Identifier: Apache-2.0
#include "base/atomics.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace raylift::base {
namespace {

TEST(Atomics, KeepTheLeastAndTheGreatest) {
  std::atomic<int> least{5}, greatest{5};
  for (const int value : {7, 5, 3, 4}) atomic_min(least, value);
  for (const int value : {3, 5, 7, 6}) atomic_max(greatest, value);
  EXPECT_EQ(least, 3);
  EXPECT_EQ(greatest, 7);
}

TEST(Atomics, LoseNoValueOfAnyThread) {
  alignas(std::atomic_ref<std::uint32_t>::required_alignment) std::uint32_t least = UINT32_MAX;
  std::atomic<std::uint32_t> greatest{0};
  std::vector<std::thread> threads;
  for (std::uint32_t thread = 0; thread != 4; ++thread)
    threads.emplace_back([&, thread] {
      for (std::uint32_t i = 0; i != 10000; ++i) {
        atomic_min(std::atomic_ref(least), 1'000'000 - 4 * i - thread);
        atomic_max(greatest, 4 * i + thread);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(least, 1'000'000U - 39'999U);
  EXPECT_EQ(greatest, 39'999U);
}

}  // namespace
}  // namespace raylift::base
