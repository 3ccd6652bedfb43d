// SPDX-License-Identifier: Apache-2.0
// Arithmetic of Float3, for kernels and host code: `ray.origin + hit.t * ray.direction`. Each product and each sum is
// rounded on its own, so the same bits come out on host and device.
//
// The functions accept only Float3, and no type that converts to it, so they don't conflict with a program's own
// operators for CUDA's float3. To mix both, convert one: `raylift::Float3(v)`.
#pragma once

#include <raylift/geometry/detail/arithmetic.h>
#include <raylift/geometry/vector_types.h>

namespace raylift {

template <std::same_as<Float3> V>
[[nodiscard]] RAYLIFT_HD inline V operator+(V a, V b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <std::same_as<Float3> V>
[[nodiscard]] RAYLIFT_HD inline V operator-(V a, V b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <std::same_as<Float3> V>
[[nodiscard]] RAYLIFT_HD inline V operator-(V a) {
  return {-a.x, -a.y, -a.z};
}
template <std::same_as<Float3> V>
[[nodiscard]] RAYLIFT_HD inline V operator*(float s, V a) {
  using arithmetic_detail::product;
  return {product(s, a.x), product(s, a.y), product(s, a.z)};
}
template <std::same_as<Float3> V>
[[nodiscard]] RAYLIFT_HD inline V operator*(V a, float s) {
  return s * a;
}
template <std::same_as<Float3> V>
[[nodiscard]] RAYLIFT_HD inline V operator/(V a, float s) {
  return {a.x / s, a.y / s, a.z / s};
}
template <std::same_as<Float3> V>
RAYLIFT_HD inline V& operator+=(V& a, V b) {
  return a = a + b;
}
template <std::same_as<Float3> V>
RAYLIFT_HD inline V& operator-=(V& a, V b) {
  return a = a - b;
}
template <std::same_as<Float3> V>
RAYLIFT_HD inline V& operator*=(V& a, float s) {
  return a = s * a;
}

/// Points and vectors: the difference of two points is a vector, and a point and a vector make a point.
template <std::same_as<LocalPoint> P>
[[nodiscard]] RAYLIFT_HD inline P operator+(P a, Float3 b) {
  return P(a.x + b.x, a.y + b.y, a.z + b.z);
}
template <std::same_as<LocalPoint> P>
[[nodiscard]] RAYLIFT_HD inline P operator-(P a, Float3 b) {
  return P(a.x - b.x, a.y - b.y, a.z - b.z);
}
template <std::same_as<LocalPoint> P>
[[nodiscard]] RAYLIFT_HD inline Float3 operator-(P a, P b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}

template <std::same_as<Float3> V>
[[nodiscard]] RAYLIFT_HD inline float dot(V a, V b) {
  using arithmetic_detail::product;
  return product(a.x, b.x) + product(a.y, b.y) + product(a.z, b.z);
}
template <std::same_as<Float3> V>
[[nodiscard]] RAYLIFT_HD inline V cross(V a, V b) {
  using arithmetic_detail::product;
  return {product(a.y, b.z) - product(a.z, b.y), product(a.z, b.x) - product(a.x, b.z),
          product(a.x, b.y) - product(a.y, b.x)};
}
template <std::same_as<Float3> V>
[[nodiscard]] RAYLIFT_HD inline float length(V a) {
  return sqrtf(dot(a, a));
}
/// The vector scaled to length 1; it must not be zero.
template <std::same_as<Float3> V>
[[nodiscard]] RAYLIFT_HD inline V normalized(V a) {
  return a / length(a);
}

}  // namespace raylift
