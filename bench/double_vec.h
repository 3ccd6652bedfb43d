// SPDX-License-Identifier: Apache-2.0
// Vectors in double, for host and device.
#pragma once

#include <raylift/geometry/vector_types.h>

namespace raylift::bench {

struct Vec {
  double x, y, z;
};

RAYLIFT_HD inline Vec operator+(Vec a, Vec b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
RAYLIFT_HD inline Vec operator-(Vec a, Vec b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
RAYLIFT_HD inline Vec operator*(double s, Vec a) {
  return {s * a.x, s * a.y, s * a.z};
}
RAYLIFT_HD inline double dot(Vec a, Vec b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
RAYLIFT_HD inline Vec to_double(Float3 v) {
  return {static_cast<double>(v.x), static_cast<double>(v.y), static_cast<double>(v.z)};
}

}  // namespace raylift::bench
