// SPDX-License-Identifier: Apache-2.0
// When photons are on their way: most of them early, and few for long. No GL.
#pragma once

#include <vector>

#include "light/photon_set.h"

namespace raylift::viewer {

/// The course of time of a set's photons. Each photon counts alike, and evenly over its way: so the half of a slider
/// that follows position() shows what half of the light does.
class LightTimes {
 public:
  LightTimes() = default;
  explicit LightTimes(const PhotonSet& set);

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

 private:
  double first_ = 0, last_ = 0;
  std::vector<double> quantiles_;  // of even shares from 0 to 1
};

}  // namespace raylift::viewer
