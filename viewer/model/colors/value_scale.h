// SPDX-License-Identifier: Apache-2.0
// Where values lie on a colour scale, and the ticks of its legend.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/settings/photon_settings.h"

namespace raylift::viewer {

/// A tick of a legend's scale.
struct Tick {
  float place;  ///< 0 to 1
  std::string label;
};

/// From `low` to `high`, linear or logarithmic.
class ValueScale {
 public:
  ValueScale() = default;
  /// The scale that the settings ask for, over values from `low` to `high` where they leave the range open. A
  /// logarithmic scale whose range is not above 0 spans the last three decades; without a value above 0 it is linear.
  ValueScale(const ScaleSettings& settings, double low, double high);

  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double high() const { return high_; }
  [[nodiscard]] bool log() const { return log_; }
  /// 0 to 1; 1 where the scale has a single value.
  [[nodiscard]] double place(double value) const;
  /// Ticks at round numbers, about so many. Values of the data beyond the scale, from `least` to `most`, are marked at
  /// its ends: "< 10", "> 50".
  [[nodiscard]] std::vector<Tick> ticks(std::size_t about, double least, double most) const;
  friend bool operator==(const ValueScale&, const ValueScale&) = default;

 private:
  double low_ = 0, high_ = 1;
  bool log_ = false;
};

}  // namespace raylift::viewer
