// SPDX-License-Identifier: Apache-2.0
// The sRGB curve, for host threads and CUDA.
#pragma once

#include <raylift/geometry/vectors.h>

#include <cmath>
#include <cstdint>

namespace raylift::viewer::color_scale {

template <class Real>
RAYLIFT_HD Real clamp01(Real x) {
  return x < 0 ? Real(0) : x > 1 ? Real(1) : x;
}

/// The sRGB curve (IEC 61966-2-1), of float or double; shaders::srgb_curve is the same in GLSL.
template <class Real>
RAYLIFT_HD Real to_linear(Real c) {
  return c <= Real(0.04045) ? c / Real(12.92) : std::pow((c + Real(0.055)) / Real(1.055), Real(2.4));
}
template <class Real>
RAYLIFT_HD Real to_srgb(Real c) {
  c = clamp01(c);
  return c <= Real(0.0031308) ? Real(12.92) * c : Real(1.055) * std::pow(c, 1 / Real(2.4)) - Real(0.055);
}
RAYLIFT_HD inline Float3 color(std::uint32_t packed) {
  const auto channel = [packed](unsigned shift) {
    return to_linear(static_cast<float>(packed >> shift & 0xFFu) / 255.0f);
  };
  return {channel(0), channel(8), channel(16)};
}

}  // namespace raylift::viewer::color_scale
