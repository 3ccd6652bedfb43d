// SPDX-License-Identifier: Apache-2.0
// The sRGB curve and the colour scale of quantities, for host threads and CUDA.
#pragma once

#include <raylift/geometry/vectors.h>

#include <cmath>
#include <cstdint>

namespace raylift::viewer::color_scale {

RAYLIFT_HD inline float clamp01(float x) {
  return x < 0 ? 0 : x > 1 ? 1 : x;
}

RAYLIFT_HD inline float to_linear(float c) {
  return c <= 0.04045f ? c / 12.92f : powf((c + 0.055f) / 1.055f, 2.4f);
}
RAYLIFT_HD inline float to_srgb(float c) {
  c = clamp01(c);
  return c <= 0.0031308f ? 12.92f * c : 1.055f * powf(c, 1 / 2.4f) - 0.055f;
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
