// SPDX-License-Identifier: Apache-2.0
// The state's photons, and their time.
#include <algorithm>

#include "viewer_state.h"

namespace raylift::viewer {

void ViewerState::set_photons(std::shared_ptr<const PhotonSet> set) {
  if (!scene_) return;
  for (const std::string& note : set->notes) say(note);
  photons_ = Photons(std::move(set), *scene_);
  ++revision_;
  if (options_.play) play(true);
}

void ViewerState::select_photon(const std::optional<PickedPhoton>& picked) {
  select(std::nullopt);
  if (!picked) return;
  photons_.select(picked->point ? photons_.selection_of_point(picked->row) : photons_.selection_of_step(picked->row));
}

void ViewerState::play(bool playing) {
  const PhotonSet* set = photons_.set().get();
  playing_ = playing && set != nullptr && set->times.low < set->times.high;
  if (playing && !playing_) return say("no photons whose time could run: --photons");
  if (!playing_) return;
  const std::optional<double>& time = settings_.photons.time;
  if (!time || *time >= static_cast<double>(set->times.high))
    change_settings([&](Settings& s) { s.photons.time = static_cast<double>(set->times.low); });
}

void ViewerState::advance(double seconds) {
  if (!playing_ || !photons_.set()) return;
  const ValueRange& times = photons_.set()->times;
  const auto time = played(settings_.photons, static_cast<double>(times.low), static_cast<double>(times.high), seconds);
  playing_ = time.has_value();
  change_settings([&](Settings& s) { s.photons.time = time.value_or(static_cast<double>(times.high)); });
}

void ViewerState::step_time(double share) {
  if (!photons_.set() || photons_.set()->times.empty()) return;
  const auto low = static_cast<double>(photons_.set()->times.low);
  const auto high = static_cast<double>(photons_.set()->times.high);
  playing_ = false;
  change_settings([&](Settings& s) {
    s.photons.time = std::clamp(s.photons.time.value_or(share > 0 ? low : high) + share * (high - low), low, high);
  });
}

}  // namespace raylift::viewer
