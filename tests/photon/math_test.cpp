// SPDX-License-Identifier: Apache-2.0
// Elementary functions against the C library's in double, over a dense sample of all floats in their domains.
#include <gtest/gtest.h>
#include <raylift/photon/detail/math.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

namespace raylift::photon {
namespace {

double wide(Real x) {
  return static_cast<double>(static_cast<float>(x));
}

/// The distance in units of the last place of the true value.
double ulps(float value, double truth) {
  const auto as_float = static_cast<float>(truth);
  const float next = std::nextafter(std::abs(as_float), std::numeric_limits<float>::infinity());
  return std::abs(value - truth) / (static_cast<double>(next) - std::abs(as_float));
}

/// The largest value of error(x) over floats from a to b, in steps of their bits.
template <class Error>
double worst(float a, float b, std::uint32_t step, const Error& error) {
  double most = 0;
  const auto end = std::bit_cast<std::uint32_t>(b);
  for (auto bits = std::bit_cast<std::uint32_t>(a); bits <= end; bits += step)
    most = std::max(most, error(std::bit_cast<float>(bits)));
  return most;
}

TEST(PhotonMath, Logarithm) {
  const auto error = [](float x) {
    const double truth = std::log(static_cast<double>(x));
    return std::min(ulps(log(x), truth), std::abs(wide(log(x)) - truth) / 1e-7);
  };
  EXPECT_LT(worst(std::numeric_limits<float>::min(), 3e38F, 331, error), 1.01);
  EXPECT_LT(worst(0.5F, 2.0F, 1, error), 1.01);
  EXPECT_EQ(wide(log(1.0F)), 0.0F);
}

TEST(PhotonMath, Exponential) {
  const auto error = [](float sign) {
    return [sign](float x) { return ulps(exp(sign * x), std::exp(static_cast<double>(sign) * x)); };
  };
  EXPECT_LT(worst(1e-10F, 87.2F, 101, error(-1)), 2);
  EXPECT_LT(worst(1e-10F, 88.72F, 101, error(1)), 2);
  EXPECT_EQ(wide(exp(0.0F)), 1.0F);
  EXPECT_EQ(wide(exp(-88.0F)), 0.0F);
  EXPECT_EQ(wide(exp(-std::numeric_limits<float>::infinity())), 0.0F);
  EXPECT_TRUE(std::isinf(wide(exp(89.0F))));
  EXPECT_TRUE(std::isnan(wide(exp(std::numeric_limits<float>::quiet_NaN()))));
}

TEST(PhotonMath, SineAndCosineOfTurns) {
  const auto error = [](float u) {
    const double angle = 2 * std::numbers::pi * std::remainder(static_cast<double>(u), 1.0);
    const auto [sine, cosine] = sine_cosine_of_turns(u);
    return std::max(std::abs(wide(sine) - std::sin(angle)), std::abs(wide(cosine) - std::cos(angle)));
  };
  EXPECT_LT(worst(1e-12F, 1048576.0F, 101, error), 2e-7);
  for (const float u : {0.0F, 0.25F, 0.5F, 0.75F, 1.0F, -0.25F}) EXPECT_EQ(error(u) < 1e-15, true) << u;
}

TEST(PhotonMath, SineAndCosineOfAngles) {
  const auto error = [](float x) {
    double most = 0;
    for (const float angle : {x, -x}) {
      const auto [sine, cosine] = sine_cosine(angle);
      most = std::max({most, std::abs(wide(sine) - std::sin(static_cast<double>(angle))),
                       std::abs(wide(cosine) - std::cos(static_cast<double>(angle)))});
    }
    return most;
  };
  EXPECT_LT(worst(1e-12F, 1e4F, 101, error), 2e-7);
}

TEST(PhotonMath, ArcCosine) {
  const auto error = [](float c) {
    return std::max(std::abs(wide(arc_cosine(c)) - std::acos(static_cast<double>(c))),
                    std::abs(wide(arc_cosine(-c)) - std::acos(-static_cast<double>(c))));
  };
  EXPECT_LT(worst(1e-12F, 1.0F, 31, error), 5e-7);
  EXPECT_EQ(wide(arc_cosine(1.5F)), 0.0F);
  EXPECT_NEAR(arc_cosine(-1.5F), std::numbers::pi, 1e-6);
}

TEST(PhotonMath, PerpendicularVectors) {
  for (const Vector n :
       {Vector(0, 0, 1), Vector(0, 0, -1), Vector(1, 0, 0), unit(Vector(1, -2, -3)), unit(Vector(1e-6F, -1e-6F, -1))}) {
    const Vector across = perpendicular(n);
    EXPECT_NEAR(dot(across, n), 0, 2e-7);
    EXPECT_NEAR(dot(across, across), 1, 1e-6);
  }
}

}  // namespace
}  // namespace raylift::photon
