// SPDX-License-Identifier: Apache-2.0
// Arithmetic of rays that are cast: unit vectors and pseudo-random numbers, for host threads and CUDA.
#pragma once

#include <raylift/geometry/vectors.h>

#include <cmath>
#include <cstdint>

namespace raylift::viewer::ray_detail {

RAYLIFT_HD inline Float3 unit(Float3 a) {
  // Scaled first: normals have the length of a triangle's area, whose square may overflow.
  const float most = fmaxf(fabsf(a.x), fmaxf(fabsf(a.y), fabsf(a.z)));
  if (!(most > 0)) return {0, 0, 1};
  const Float3 b = (1 / most) * a;
  return (1 / sqrtf(dot(b, b))) * b;
}
RAYLIFT_HD inline std::uint32_t scramble(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7FEB352Du;
  x ^= x >> 15;
  x *= 0x846CA68Bu;
  return x ^ x >> 16;
}
/// A pseudo-random number from 0 to 1: a hash of the arguments.
RAYLIFT_HD inline float random(std::uint32_t pixel, std::uint32_t sample, std::uint32_t dimension) {
  return static_cast<float>(scramble(scramble(scramble(pixel) + sample) + dimension) >> 8) * (1.0f / 16777216.0f);
}

}  // namespace raylift::viewer::ray_detail
