// SPDX-License-Identifier: Apache-2.0
// What the state keeps from one time to the next.
#include <raylift/geometry/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "state/viewer_state.h"

namespace raylift::viewer {
namespace {

/// Work without which the window shows what it shows: nobody is bothered where it fails.
template <class Work>
void quietly(const Work& work) {
  try {
    work();
  } catch (const Error&) {
    return;
  }
}

}  // namespace

void ViewerState::remember(const std::filesystem::path& file) {
  quietly([&] { remembered_.open(file); });
  fly_speed_ = remembered_.fly_speed();
}

void ViewerState::note_shown_file() {
  if (!file_.empty() && shown_file_ != file_) quietly([&] { remembered_.note_file(bookmarks_key(file_)); });
}

void ViewerState::change_fly_speed(double steps) {
  constexpr double kStep = 1.25;
  fly_speed_ = std::clamp(fly_speed_ * std::pow(kStep, steps), kSlowestFly, kFastestFly);
  if (std::abs(fly_speed_ - 1) < 1e-9) fly_speed_ = 1;  // back where it was
  std::array<char, 64> words{};
  std::snprintf(words.data(), words.size(), "flying at %.3g times the usual speed", fly_speed_);
  say(words.data());
}

void ViewerState::keep_fly_speed() {
  quietly([&] { remembered_.set_fly_speed(fly_speed_); });
}

}  // namespace raylift::viewer
