// SPDX-License-Identifier: Apache-2.0
// Photons on the host's threads.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>

#include "base/for_all.h"

namespace raylift::photon {

/// Calls work(i) for all below `count`.
template <class Work>
void for_each(std::size_t count, const Work& work) {
  base::for_all(count, 64, work);
}

/// The same in turns of about a tenth of a second, so that a caller can stop it: after each turn, calls `after_turn`
/// with the number of calls so far, unless it is empty. What it throws passes through.
template <class Work>
void for_each_in_turns(std::size_t count, const std::function<void(std::size_t)>& after_turn, const Work& work) {
  if (!after_turn) return for_each(count, work);
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kTurn(100);
  std::size_t turn = 4096;
  for (std::size_t done = 0; done != count;) {
    const Clock::time_point start = Clock::now();
    const std::size_t here = std::min(turn, count - done);
    for_each(here, [&](std::size_t i) { work(done + i); });
    done += here;
    const auto took = Clock::now() - start;
    if (took < kTurn / 2) turn *= 2;
    if (took > kTurn * 2) turn = std::max<std::size_t>(turn / 2, 256);
    after_turn(done);
  }
}

}  // namespace raylift::photon
