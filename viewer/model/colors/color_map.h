// SPDX-License-Identifier: Apache-2.0
// Colour scales of quantities, and their contrast to the ground that an image is drawn on.
#pragma once

#include <cstdint>
#include <vector>

#include "model/settings/settings.h"

namespace raylift::viewer {

/// What is behind an image: relative luminances by WCAG 2, of its darkest and its brightest part.
struct Ground {
  double darkest = 0, brightest = 0;
  /// Whether white has more contrast to it than black.
  [[nodiscard]] bool dark() const;
  friend bool operator==(const Ground&, const Ground&) = default;
};
[[nodiscard]] Ground ground_of(const Background& background);

/// The relative luminance of a colour (WCAG 2).
[[nodiscard]] double luminance(const Color& color);
/// The contrast of a colour to the part of the ground that is nearest to it, 1 to 21 (WCAG 2).
[[nodiscard]] double contrast(const Color& color, const Ground& ground);
/// The contrast that the colours of data have at least: what WCAG 2.1 asks of graphics.
inline constexpr double kMinContrast = 3;
/// The colour, lighter on a dark ground or darker on a light one where its contrast is less than that.
[[nodiscard]] Color legible(const Color& color, const Ground& ground);

/// A map's colour, from 0 to 1. Lightness rises monotonically.
[[nodiscard]] Color map_color(ColorMap map, double place);

/// The part of a map that is legible on a ground. 0 is the end nearest to the ground, with kMinContrast; 1 is the one
/// farthest from it: bright on a dark ground, dark on a light one.
class ScaleColors {
 public:
  ScaleColors(ColorMap map, const Ground& ground);
  [[nodiscard]] Color at(double place) const;
  /// So many colours from 0 to 1.
  [[nodiscard]] std::vector<Color> steps(int count) const;

 private:
  ColorMap map_;
  double from_, to_;  // places in the map
};

/// The steps of scales in the tables of shaders and kernels.
inline constexpr std::uint32_t kScaleSteps = 256;

}  // namespace raylift::viewer
