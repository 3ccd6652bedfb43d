// SPDX-License-Identifier: Apache-2.0
// What is drawn over the scene: the axes in a corner, and the scale bar with its length. As triangles in pixels; no GL.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "cli/camera.h"
#include "settings.h"

namespace raylift::viewer {

struct OverlayVertex {
  std::array<float, 2> position;  ///< pixels from the lower left
  std::array<float, 4> paint;     ///< sRGB and alpha
};

using Overlay = std::vector<OverlayVertex>;  ///< three to a triangle

/// A length of 1, 2 or 5 times a power of ten, at most `most` millimetres.
[[nodiscard]] double round_length(double most);

/// With the unit that reads best: "50 mm", "2 m", "1 km", "20 um".
[[nodiscard]] std::string length_text(double millimetres);

/// Axes and scale bar, as the settings want them. In perspective the bar holds at the distance of the target.
[[nodiscard]] Overlay make_overlay(const Camera& camera, const Settings& settings, int width, int height);

}  // namespace raylift::viewer
