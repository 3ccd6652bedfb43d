// SPDX-License-Identifier: Apache-2.0
// Arithmetic that gives the same bits on host and device: products that are rounded on their own, and pairs of doubles.
#pragma once

#include <raylift/geometry/detail/standard.h>
#include <raylift/geometry/vector_types.h>

namespace raylift::arithmetic_detail {

// A product that is rounded on its own. Fused into an addition, its result would depend on the compiler, and edge
// functions would lose their antisymmetry.
template <std::floating_point Real>
RAYLIFT_HD inline Real product(Real a, Real b) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<Real, float>)
    return __fmul_rn(a, b);
  else
    return __dmul_rn(a, b);
#else
  Real p = a * b;
#if defined(__FMA__)
  asm("" : "+x"(p));
#elif defined(__aarch64__)
  asm("" : "+w"(p));
#endif
  return p;
#endif
}

// The nearest float, and what it lacks to the value, rounded to a float too.
struct FloatPair {
  float high, low;
};
RAYLIFT_HD inline FloatPair split(double value) {
  auto high = static_cast<float>(value);
#if !defined(__CUDA_ARCH__)
  // GCC 12 takes a value that became a float and a double again for the value itself where it vectorises.
#if defined(__x86_64__)
  asm("" : "+x"(high));
#elif defined(__aarch64__)
  asm("" : "+w"(high));
#endif
#endif
  return {high, static_cast<float>(value - static_cast<double>(high))};
}

RAYLIFT_HD inline float minimum(float a, float b) {
#if defined(__CUDA_ARCH__)
  return fminf(a, b);
#else
  return a < b ? a : b;
#endif
}
RAYLIFT_HD inline float maximum(float a, float b) {
#if defined(__CUDA_ARCH__)
  return fmaxf(a, b);
#else
  return a > b ? a : b;
#endif
}

// 1 / value, off by up to 2^-23 of it: on a GPU one instruction, where a division takes a dozen. Of a normal number
// whose inverse is normal.
RAYLIFT_HD inline float rough_inverse(float value) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
#else
  return 1.0f / value;
#endif
}

RAYLIFT_HD inline float as_float(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return __uint_as_float(bits);
#else
  return std::bit_cast<float>(bits);
#endif
}

RAYLIFT_HD inline std::uint32_t as_bits(float value) {
#if defined(__CUDA_ARCH__)
  return __float_as_uint(value);
#else
  return std::bit_cast<std::uint32_t>(value);
#endif
}

RAYLIFT_HD inline int highest_bit(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return 31 - __clz(static_cast<int>(bits));
#else
  return 31 - std::countl_zero(bits);
#endif
}
RAYLIFT_HD inline std::uint32_t count_bits(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint32_t>(__popc(bits));
#else
  return static_cast<std::uint32_t>(std::popcount(bits));
#endif
}

// The sum of two doubles, the second at most half an ulp of the first: about 106 bits. Operations after Dekker, "A
// Floating-Point Technique for Extending the Available Precision" (Numerische Mathematik 18, 1971), and Knuth. Sums and
// products commute bit for bit.
struct DoublePair {
  double high, low;
};

RAYLIFT_HD inline DoublePair exact_sum(double a, double b) {
  const double s = a + b, of_b = s - a;
  return {s, (a - (s - of_b)) + (b - of_b)};
}
RAYLIFT_HD inline DoublePair exact_product(double a, double b) {
  const double p = product(a, b);
  return {p, fma(a, b, -p)};
}

// One vocabulary for doubles and pairs of them.
RAYLIFT_HD inline double sum(double a, double b) {
  return a + b;
}
RAYLIFT_HD inline double difference(double a, double b) {
  return a - b;
}
RAYLIFT_HD inline DoublePair sum(DoublePair a, DoublePair b) {
  const DoublePair s = exact_sum(a.high, b.high);
  const double low = s.low + (a.low + b.low);
  return exact_sum(s.high, low);
}
RAYLIFT_HD inline DoublePair difference(DoublePair a, DoublePair b) {
  return sum(a, {-b.high, -b.low});
}
RAYLIFT_HD inline DoublePair product(DoublePair a, DoublePair b) {
  const DoublePair p = exact_product(a.high, b.high);
  return exact_sum(p.high, p.low + (product(a.high, b.low) + product(a.low, b.high)));
}
RAYLIFT_HD inline double ratio(double a, double b) {
  return a / b;
}
RAYLIFT_HD inline double ratio(DoublePair a, DoublePair b) {
  const double q = a.high / b.high;
  const DoublePair rest = difference(a, product(b, {q, 0}));
  return q + rest.high / b.high;
}

}  // namespace raylift::arithmetic_detail
