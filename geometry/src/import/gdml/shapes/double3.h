// SPDX-License-Identifier: Apache-2.0
// Arithmetic of points and directions in double.
#pragma once

#include <raylift/geometry/vector_types.h>

#include <cmath>

namespace raylift::gdml {

[[nodiscard]] inline Double3 minus(const Double3& a, const Double3& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
[[nodiscard]] inline Double3 plus(const Double3& a, double factor, const Double3& b) {
  return {a.x + factor * b.x, a.y + factor * b.y, a.z + factor * b.z};
}
[[nodiscard]] inline double dot(const Double3& a, const Double3& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
[[nodiscard]] inline Double3 cross(const Double3& a, const Double3& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
[[nodiscard]] inline double length(const Double3& a) {
  return std::sqrt(dot(a, a));
}

}  // namespace raylift::gdml
