// SPDX-License-Identifier: Apache-2.0
#include "model/colors/oklab.h"

#include <array>
#include <cmath>

#include "model/colors/color_scale.h"

namespace raylift::viewer {

Oklab to_oklab(const Color& color) {
  const auto linear = [&](std::size_t i) { return static_cast<double>(color_scale::to_linear(color[i])); };
  const double red = linear(0), green = linear(1), blue = linear(2);
  const double l = std::cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const double m = std::cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const double s = std::cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

Color from_oklab(const Oklab& lab) {
  const double l = std::pow(lab.lightness + 0.3963377774 * lab.a + 0.2158037573 * lab.b, 3);
  const double m = std::pow(lab.lightness - 0.1055613458 * lab.a - 0.0638541728 * lab.b, 3);
  const double s = std::pow(lab.lightness - 0.0894841775 * lab.a - 1.2914855480 * lab.b, 3);
  const std::array<double, 3> linear{4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
                                     -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
                                     -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
  Color color{};
  for (std::size_t i = 0; i < 3; ++i) color[i] = static_cast<float>(color_scale::to_srgb(linear[i]));
  return color;
}

}  // namespace raylift::viewer
