// SPDX-License-Identifier: Apache-2.0
// One ray's way through all solids, for the host and the GPU alike. Every operation is exact or rounded in the same way
// on both, and lengths add up as integers, in any order: so both give the same file, byte for byte.
#pragma once

#include <raylift/gpu/rays/query.h>

constexpr double kUnitsPerMm = 1024;  // lengths add up in units of about a micrometre

struct Task {
  raylift::GeometryView geometry;
  raylift::float3 source;       // millimetres from the geometry's origin
  unsigned long long* lengths;  // one per solid, modulo 2^64
  std::size_t rays;
};

RAYLIFT_HD inline std::uint64_t random_bits(std::uint64_t counter) {  // SplitMix64
  std::uint64_t z = counter * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/// Isotropic and not of unit length: a point of the integer lattice in a ball, found by trial.
RAYLIFT_HD inline raylift::float3 random_direction(std::uint64_t ray, double& length) {
  for (std::uint64_t trial = 1;; ++trial) {
    const std::uint64_t bits = random_bits((ray << 8) + trial);
    const std::int64_t half = 1 << 20, mask = 2 * half - 1;
    const std::int64_t x = (bits & mask) - half, y = (bits >> 21 & mask) - half, z = (bits >> 42 & mask) - half;
    const std::int64_t square = x * x + y * y + z * z;
    if (square > half * half || square < half) continue;
    length = sqrt(static_cast<double>(square));
    return {static_cast<float>(x), static_cast<float>(y), static_cast<float>(z)};
  }
}

/// add(solid, units): the path within a closed surface is the sum of where it leaves, less that of where it enters.
template <class Add>
RAYLIFT_HD void follow(const Task& task, std::uint64_t number, const Add& add) {
  double length = 0;
  raylift::Ray ray{task.source, 0, random_direction(number, length)};
  raylift::Hit last{-1, raylift::kNoTriangle, 0, 0, {0, 0, 0}, 0, 0};
  std::uint32_t last_solid = raylift::kNoTriangle;
  while (true) {
    const raylift::Hit hit = raylift::closest_hit(task.geometry, ray, last.triangle, last.instance);
    if (!hit.valid()) return;
    const std::uint32_t solid = task.geometry.solid_id(hit.instance, hit.triangle);
    // On the edge of two triangles both are hit, which is one crossing.
    if (solid != last_solid || hit.from_inside != last.from_inside) {
      const auto units = llrint(hit.t * length * kUnitsPerMm);
      add(solid, static_cast<unsigned long long>(hit.from_inside ? units : -units));
    }
    // Surfaces may touch: a second one at the same place counts too. Then the ray goes on behind it.
    ray.tmin = hit.t == last.t ? nextafterf(hit.t, ray.tmax) : hit.t;
    last = hit;
    last_solid = solid;
  }
}
