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
/// with the number of calls so far, unless it is empty. What it throws passes through. The first turn is short, as
/// nothing is known of the photons yet.
template <class Work>
void for_each_in_turns(std::size_t count, const std::function<void(std::size_t)>& after_turn, const Work& work) {
  if (!after_turn) return for_each(count, work);
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  constexpr double kTurn = 0.1, kMin = 64;
  double turn = kMin;
  for (std::size_t done = 0; done != count;) {
    const Clock::time_point start = Clock::now();
    const std::size_t here = std::min(static_cast<std::size_t>(turn), count - done);
    const std::size_t few = std::clamp<std::size_t>(here / 256, 1, 64);
    base::for_all(here, few, [&](std::size_t i) { work(done + i); });
    done += here;
    const double took = Seconds(Clock::now() - start).count();
    turn = std::max(kMin, turn * std::min(4.0, kTurn / std::max(took, 1e-9)));
    after_turn(done);
  }
}

}  // namespace raylift::photon
