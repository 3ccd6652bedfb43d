// SPDX-License-Identifier: Apache-2.0
// Which colours a scale has, and over which values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace raylift::viewer {

/// From `low` to `high`, both included.
template <class T>
struct Between {
  T low, high;
  [[nodiscard]] bool has(T value) const { return low <= value && value <= high; }
  friend bool operator==(const Between&, const Between&) = default;
};

/// Perceptually uniform maps, which are read with any colour vision.
enum class ColorMap : std::uint8_t { viridis, cividis, inferno, magma, plasma, gray };
inline constexpr std::array<std::string_view, 6> kColorMapNames{"viridis", "cividis", "inferno",
                                                                "magma",   "plasma",  "gray"};

struct ScaleSettings {
  ColorMap map = ColorMap::viridis;
  bool log = false;
  std::optional<Between<double>> range;  ///< none: from the data
  friend bool operator==(const ScaleSettings&, const ScaleSettings&) = default;
};

}  // namespace raylift::viewer
