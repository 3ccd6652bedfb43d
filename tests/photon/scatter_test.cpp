// SPDX-License-Identifier: Apache-2.0
// Angles and polarisation after scattering, against closed forms.
#include <gtest/gtest.h>
#include <raylift/photon/detail/scatter.h>

#include "statistics.h"

namespace raylift::photon {
namespace {

constexpr std::uint64_t kScatterSeed = 14;
constexpr std::uint64_t kScattered = 300'000;

void expect_wave(const Wave& wave) {
  ASSERT_NEAR(dot(wave.direction, wave.direction), 1, 1e-6);
  ASSERT_NEAR(dot(wave.polarization, wave.polarization), 1, 1e-6);
  ASSERT_NEAR(dot(wave.direction, wave.polarization), 0, 1e-6);
}

// I ~ sin^2 of the angle to the old polarisation: <cos^2> is 1/5 along it and 2/5 across it.
TEST(Rayleigh, IsADipoleAboutThePolarisation) {
  const Wave in{unit(Vector(1, 2, 3)), unit(Vector(3, 0, -1))};
  const Vector third = cross(in.direction, in.polarization);
  Mean along, ahead, ahead2, side2, fourth;
  for (std::uint64_t photon = 0; photon != kScattered; ++photon) {
    RandomStream random(kScatterSeed, photon);
    const Wave out = rayleigh(in, random);
    expect_wave(out);
    EXPECT_LE(random.drawn(), 4U);
    const double c = dot(out.direction, in.polarization);
    along.add(c * c);
    fourth.add(c * c * c * c);
    const double d = dot(out.direction, in.direction);
    ahead.add(d);
    ahead2.add(d * d);
    const double s = dot(out.direction, third);
    side2.add(s * s);
    // The new polarisation is the old one's part across the new direction.
    const double wanted = std::sqrt(1 - c * c);
    if (wanted > 1e-2) {
      ASSERT_NEAR(dot(out.polarization, in.polarization), wanted, 1e-5);
    }
  }
  expect_mean(along, 0.2, 0.2);
  expect_mean(ahead2, 0.4, 0.4);
  expect_mean(side2, 0.4, 0.4);
  expect_mean(fourth, 3.0 / 35, 3.0 / 35);
  EXPECT_LT(ahead.off(0), 4);
}

// Unpolarised light: 3/8 (1 + cos^2), so <cos^2> is 2/5; and at right angles it is polarised across the plane.
TEST(Rayleigh, OfUnpolarisedLightHasTheKnownPhaseFunction) {
  const Vector direction = unit(Vector(-1, 0.5F, 2));
  Mean square, polarised;
  for (std::uint64_t photon = 0; photon != kScattered; ++photon) {
    RandomStream random(kScatterSeed + 1, photon);
    const Wave in{direction, random_polarization(direction, random)};
    expect_wave(in);
    const Wave out = rayleigh(in, random);
    const double c = dot(out.direction, direction);
    square.add(c * c);
    if (std::abs(c) < 0.05) {
      const Vector plane = unit(cross(direction, out.direction));
      const double s = dot(out.polarization, plane);
      polarised.add(s * s);
    }
  }
  expect_mean(square, 0.4, 0.4);
  EXPECT_GT(polarised.value(), 0.995);  // (1 - c^2) / (1 + c^2) of it at least
}

TEST(HenyeyGreenstein, HasItsMeanAndSecondMoment) {
  for (const float g : {-0.9F, -0.3F, 0.0F, 5e-4F, 2e-3F, 0.5F, 0.9F, 0.99F}) {
    Mean mean, second;
    for (std::uint64_t photon = 0; photon != kScattered; ++photon) {
      RandomStream random(kScatterSeed + 2, photon);
      const double c = henyey_greenstein(g, random);
      ASSERT_LE(std::abs(c), 1);
      mean.add(c);
      second.add(0.5 * (3 * c * c - 1));  // Legendre's second polynomial: its mean is g^2
    }
    EXPECT_LT(mean.off(g), 4) << g;
    EXPECT_LT(second.off(static_cast<double>(g) * g), 4) << g;
    if (std::abs(g) > 0.2F) {
      EXPECT_GT(mean.off(1.02 * g), 4) << g;
    }
  }
}

TEST(Mie, GoesForwardsAndBackwardsByItsRatio) {
  const Vector direction = unit(Vector(2, -1, 1));
  const Wave in{direction, perpendicular(direction)};
  Mean mean;
  for (std::uint64_t photon = 0; photon != kScattered; ++photon) {
    RandomStream random(kScatterSeed + 3, photon);
    const Wave out = mie(in, 0.9F, 0.4F, 0.7F, random);
    expect_wave(out);
    mean.add(dot(out.direction, direction));
  }
  expect_mean(mean, 0.7 * 0.9 - 0.3 * 0.4, 0.5);
}

}  // namespace
}  // namespace raylift::photon
