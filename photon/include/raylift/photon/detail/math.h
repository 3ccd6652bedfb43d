// SPDX-License-Identifier: Apache-2.0
// Elementary functions that give the same bits on host and device. The C library and CUDA differ in theirs. Bounds on
// the errors are in units in the last place (ulp) and are tested against double over all floats or a dense sample.
#pragma once

#include <raylift/photon/detail/real.h>

namespace raylift::photon {

/// The natural logarithm, for positive normal numbers. Error: 1 ulp, or 1e-7 absolute near 1. By the series of
/// 2 artanh((m - 1) / (m + 1)) for a mantissa m near 1.
RAYLIFT_HD_INLINE Real log(Real x) {
  const std::uint32_t bits = arithmetic_detail::as_bits(x);
  // Mantissa from sqrt(1/2) to sqrt(2).
  const std::uint32_t shifted = bits - 0x3F3504F3u;
  const int exponent = static_cast<int>(shifted) >> 23;
  const Real m = arithmetic_detail::as_float((shifted & 0x007FFFFFu) + 0x3F3504F3u);
  const Real f = m - Real(1);
  const Real s = f / (Real(2) + f);
  const Real z = s * s;
  const Real series = z * (Real(0.66666667f) + z * (Real(0.4f) + z * Real(0.28571429f)));
  // log m = 2 s + s series = f - s (f - series): f is exact.
  const Real e(static_cast<float>(exponent));
  return e * Real(0.693145752f) + (f - (s * (f - series) - e * Real(1.42860677e-6f)));
}

/// e to the power x: 0 below -87.3, infinite above 88.7. Error: 2 ulp.
RAYLIFT_HD_INLINE Real exp(Real x) {
  if (!(x > Real(-87.3f))) return x == x ? Real(0) : x;
  if (x > Real(88.72283f)) return arithmetic_detail::as_float(0x7F800000u);
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const Real n = (x * Real(1.44269504f) + Real(kRound)) - Real(kRound);
  const Real r = (x - n * Real(0.693145752f)) - n * Real(1.42860677e-6f);
  const Real p = Real(1) / Real(5040);
  const Real series =
      r * (Real(0.5f) + r * (Real(0.16666667f) +
                             r * (Real(0.041666668f) + r * (Real(0.0083333338f) + r * (Real(0.0013888889f) + r * p)))));
  const Real m = Real(1) + (r + r * series);
  // In two steps: 2^128 is no float, but m 2^127 * 2 may be.
  const int whole = static_cast<int>(static_cast<float>(n));
  const int half = whole / 2;
  const auto power = [](int k) { return Real(arithmetic_detail::as_float(static_cast<std::uint32_t>(k + 127) << 23)); };
  return m * power(half) * power(whole - half);
}

struct SineCosine {
  Real sine, cosine;
};

/// Sine and cosine of a part of a turn, from -1/8 to 1/8 of it. Taylor series.
RAYLIFT_HD_INLINE SineCosine sine_cosine_of_eighth(Real turns) {
  const Real a = turns * Real(6.28318531f);
  const Real z = a * a;
  const Real sine = a + a * (z * (Real(-0.16666667f) +
                                  z * (Real(0.0083333338f) + z * (Real(-0.00019841270f) + z * Real(2.7557319e-6f)))));
  const Real cosine =
      Real(1) + z * (Real(-0.5f) + z * (Real(0.041666668f) + z * (Real(-0.0013888889f) + z * Real(2.4801587e-5f))));
  return {sine, cosine};
}

/// Sine and cosine of 2 pi u, for |u| up to 2^20. Error: 2e-7 absolute.
RAYLIFT_HD_INLINE SineCosine sine_cosine_of_turns(Real u) {
  constexpr float kRound = 12582912.0f;
  const Real quarters = (Real(4) * u + Real(kRound)) - Real(kRound);
  const SineCosine base = sine_cosine_of_eighth(u - Real(0.25f) * quarters);  // exact: both are multiples of u's ulp
  switch (static_cast<int>(static_cast<float>(quarters)) & 3) {
    case 0:
      return base;
    case 1:
      return {base.cosine, -base.sine};
    case 2:
      return {-base.sine, -base.cosine};
    default:
      return {-base.cosine, base.sine};
  }
}

/// Sine and cosine of an angle in radians, up to 1e4. Error: 2e-7 absolute. The reduction is in double.
RAYLIFT_HD_INLINE SineCosine sine_cosine(Real radians) {
  const double turns =
      arithmetic_detail::product(static_cast<double>(static_cast<float>(radians)), 0.15915494309189535);
  constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52
  const double whole = (turns + kRound) - kRound;
  return sine_cosine_of_turns(static_cast<float>(turns - whole));
}

/// The angle whose cosine is c, from 0 to pi. Outside of -1 to 1 as at the ends. Error: 5e-7 absolute. A root times a
/// polynomial, the shape of formula 4.4.46 in Abramowitz and Stegun, "Handbook of Mathematical Functions" (1964).
RAYLIFT_HD_INLINE Real arc_cosine(Real c) {
  const Real x = smaller(magnitude(c), Real(1));
  Real p = Real(0.0066711451f) - x * Real(0.0012627883f);
  p = Real(-0.017089611f) + x * p;
  p = Real(0.03089292f) + x * p;
  p = Real(-0.050174668f) + x * p;
  p = Real(0.088979043f) + x * p;
  p = Real(-0.2145988f) + x * p;
  p = Real(1.5707963f) + x * p;
  const Real angle = square_root(Real(1) - x) * p;
  return c < Real(0) ? Real(3.14159265f) - angle : angle;
}

}  // namespace raylift::photon
