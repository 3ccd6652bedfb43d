// SPDX-License-Identifier: Apache-2.0
// The sRGB curve and the colour scale of quantities, for host threads and CUDA.
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

/// From dark blue over green to yellow, perceptually uniform: polynomials fitted to matplotlib's "viridis".
RAYLIFT_HD inline Float3 ramp(float t) {
  t = clamp01(t);
  const auto polynomial = [t](float c0, float c1, float c2, float c3, float c4, float c5, float c6) {
    return to_linear(clamp01(c0 + t * (c1 + t * (c2 + t * (c3 + t * (c4 + t * (c5 + t * c6)))))));
  };
  return {polynomial(0.2777f, 0.1050f, -0.3308f, -4.6342f, 6.2282f, 4.7763f, -5.4354f),
          polynomial(0.0054f, 1.4046f, 0.2148f, -5.7991f, 14.1799f, -13.7451f, 4.6458f),
          polynomial(0.3340f, 1.3845f, 0.0950f, -19.3324f, 56.6905f, -65.3530f, 26.3124f)};
}

}  // namespace raylift::viewer::color_scale
