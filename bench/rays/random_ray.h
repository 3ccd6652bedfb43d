// SPDX-License-Identifier: Apache-2.0
// The benchmarks' incoherent rays, by number, for host and device.
#pragma once

#include <raylift/geometry/bvh/ray.h>

#include <cmath>
#include <cstdint>

namespace raylift::bench {

RAYLIFT_HD inline double random_unit(std::uint64_t& state) {
  state += 0x9E3779B97F4A7C15u;
  std::uint64_t z = state;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return static_cast<double>((z ^ z >> 31) >> 11) * 0x1p-53;
}

RAYLIFT_HD inline Float3 random_direction(std::uint64_t& state, double length) {
  const double z = 2 * random_unit(state) - 1, r = sqrt(1 - z * z), a = 2 * 3.14159265358979323846 * random_unit(state);
  return {static_cast<float>(length * r * cos(a)), static_cast<float>(length * r * sin(a)),
          static_cast<float>(length * z)};
}

/// Ray number i: its origin uniform in a ball, its direction isotropic.
RAYLIFT_HD inline Ray random_ray(std::uint64_t i, double radius) {
  std::uint64_t state = (i + 1) * 0xD1342543DE82EF95u;
  const double length = radius * cbrt(random_unit(state));
  // All members, as CUDA takes no default that a function of the standard library makes.
  return Ray{LocalPoint(random_direction(state, length)), 0, random_direction(state, 1),
             arithmetic_detail::as_float(0x7F800000u)};
}

}  // namespace raylift::bench
