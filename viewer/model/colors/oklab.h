// SPDX-License-Identifier: Apache-2.0
// The colour space OKLab, in which equal steps look equal (B. Ottosson, "A perceptual color space for image
// processing", 2020).
#pragma once

#include "model/settings/settings.h"

namespace raylift::viewer {

struct Oklab {
  double lightness, a, b;
};
[[nodiscard]] Oklab to_oklab(const Color& color);
/// Clipped to what sRGB has.
[[nodiscard]] Color from_oklab(const Oklab& lab);

}  // namespace raylift::viewer
