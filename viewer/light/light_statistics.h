// SPDX-License-Identifier: Apache-2.0
// What most photons of a set are like: when they are on their way, and of which wavelength. No GL.
#pragma once

#include <optional>
#include <vector>

#include "light/photon_set.h"
#include "model/settings/photon_settings.h"

namespace raylift::viewer {

/// Each photon counts alike in the times, and evenly over its way: so the half of a slider that follows position()
/// shows what half of the light does.
class LightStatistics {
 public:
  LightStatistics() = default;
  explicit LightStatistics(const PhotonSet& set);

  [[nodiscard]] double first() const { return first_; }
  [[nodiscard]] double last() const { return last_; }
  /// Whether time runs at all.
  [[nodiscard]] bool run() const { return first_ < last_; }
  /// The time before which photons spend so much of their way, from 0 to 1.
  [[nodiscard]] double quantile(double share) const;
  /// Where a time lies from the first to the last, 0 to 1: mostly by the light before it. A part of the range is by
  /// the time itself, so that no span of time is without a length.
  [[nodiscard]] double position(double time) const;
  /// The time at a position.
  [[nodiscard]] double time_at(double position) const;
  /// Whether 90 % of the light has one wavelength: that of a laser or an LED, of which little was shifted.
  [[nodiscard]] bool one_wavelength() const { return one_wavelength_; }

 private:
  double first_ = 0, last_ = 0;
  bool one_wavelength_ = true;
  std::vector<double> quantiles_;  // of even shares from 0 to 1
};

/// The times that play shows: all, or those of the settings' range. A range without light has no effect.
[[nodiscard]] Between<double> play_times(const PhotonSettings& settings, const LightStatistics& light);
/// The time after `seconds` more of play; none where play has come to its end. At the speed of the settings, or with
/// none evenly along the positions of times.
[[nodiscard]] std::optional<double> played(const PhotonSettings& settings, const LightStatistics& light,
                                           double seconds);
/// The time after a share of the play, from 0 to 1.
[[nodiscard]] double time_of_play(const PhotonSettings& settings, const LightStatistics& light, double share);

}  // namespace raylift::viewer
