// SPDX-License-Identifier: Apache-2.0
// The time of work in seconds: the best of some rounds, since the machines are noisy.
#pragma once

#include <algorithm>
#include <chrono>
#include <limits>
#include <type_traits>

namespace raylift::bench {

/// The result of `work` is destroyed after the time is taken.
template <class Work>
double seconds(const Work& work) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto taken = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  if constexpr (std::is_void_v<decltype(work())>) {
    work();
    return taken();
  } else {
    [[maybe_unused]] const auto kept = work();
    return taken();
  }
}

template <class Work>
double best_of(int rounds, const Work& work) {
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round != rounds; ++round) best = std::min(best, seconds(work));
  return best;
}

}  // namespace raylift::bench
