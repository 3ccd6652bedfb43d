// SPDX-License-Identifier: Apache-2.0
// Units by their names, for texts in options and sources.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace raylift::base {

struct Unit {
  std::string_view name;
  double value;
};

/// In mm. The first name of a length is the one that is printed.
inline constexpr std::array kLengths{Unit{"mm", 1},         Unit{"cm", 10},         Unit{"m", 1000},
                                     Unit{"km", 1e6},       Unit{"inch", 25.4},     Unit{"ft", 304.8},
                                     Unit{"millimeter", 1}, Unit{"centimeter", 10}, Unit{"meter", 1000},
                                     Unit{"in", 25.4},      Unit{"um", 1e-3},       Unit{"foot", 304.8}};

/// The largest coordinate of a point, in mm: coordinates become floats, and lengths are squared in these.
inline constexpr double kFarthestMm = 1e18;

[[nodiscard]] constexpr std::optional<double> value_of(std::string_view name, std::span<const Unit> units) {
  for (const Unit& unit : units)
    if (unit.name == name) return unit.value;
  return std::nullopt;
}

}  // namespace raylift::base
