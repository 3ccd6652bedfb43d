// SPDX-License-Identifier: Apache-2.0
// Fresnel's equations against a second implementation: complex amplitudes in double from the fields' continuity.
#include <gtest/gtest.h>
#include <raylift/photon/detail/fresnel.h>

#include <array>
#include <complex>

#include "statistics.h"

namespace raylift::photon {
namespace {

using test::kDegree;
using Complex = std::complex<double>;

constexpr std::array kAngles{0.0, 1e-4, 5.0, 15.0, 30.0, 41.0, 42.0, 45.0, 53.06, 60.0, 75.0, 85.0, 89.0, 89.9};

/// Reflection amplitudes of an interface by admittances: s: n cos, p: n / cos. O. Heavens's and Abeles's form, which
/// holds for complex indices and beyond total reflection.
struct Amplitudes {
  Complex s, p;
  Complex s_through, p_through;  // of the tangential electric field
};
Amplitudes interface(double n1, Complex n2, double angle) {
  const double sine = std::sin(angle);
  const Complex c1 = std::cos(angle);
  Complex c2 = std::sqrt(1.0 - n1 * n1 * sine * sine / (n2 * n2));
  if ((n2 * c2).imag() < 0) c2 = -c2;  // decays
  const Complex s1 = n1 * c1, s2 = n2 * c2, p1 = n1 / c1, p2 = n2 / c2;
  return {(s1 - s2) / (s1 + s2), (p1 - p2) / (p1 + p2), 2.0 * s1 / (s1 + s2), 2.0 * p1 / (p1 + p2)};
}

/// Light that comes down onto the plane z = 0, in the plane of x and z, turned about z.
struct Light {
  Wave wave;
  Vector normal{0, 0, 1};
  Vector s, p;
};
Light light(double angle, double mix, double turn) {
  const auto vector = [&](double x, double y, double z) {
    const double c = std::cos(turn), s = std::sin(turn);
    return Vector(static_cast<float>(c * x - s * y), static_cast<float>(s * x + c * y), static_cast<float>(z));
  };
  const Vector d = vector(std::sin(angle), 0, -std::cos(angle));
  const Vector s = vector(0, 1, 0);
  const Vector p = vector(std::cos(angle), 0, std::sin(angle));
  const Vector polarization = static_cast<float>(std::cos(mix)) * s + static_cast<float>(std::sin(mix)) * p;
  return {{d, polarization}, {0, 0, 1}, s, p};
}

TEST(Fresnel, SharesThePowerAsTheFieldsDo) {
  for (const auto& [n1, n2] : {std::pair(1.0, 1.5), {1.5, 1.0}, {1.33, 1.49}, {1.0, 1.0}, {2.4, 1.2}})
    for (const double degrees : kAngles)
      for (const double mix : {0.0, 30.0, 45.0, 90.0}) {
        const double angle = degrees * kDegree;
        const Light at = light(angle, mix * kDegree, 0.7);
        const Fresnel f = fresnel(at.wave, at.normal, static_cast<float>(n1), static_cast<float>(n2));
        const Amplitudes truth = interface(n1, n2, angle);
        const double s = std::cos(mix * kDegree), p = std::sin(mix * kDegree);
        const double reflected = s * s * std::norm(truth.s) + p * p * std::norm(truth.p);
        const double critical = n1 > n2 ? std::asin(n2 / n1) / kDegree : 90;
        // Just at the critical angle and at grazing incidence the power's slope is infinite.
        const double tolerance = std::min(std::abs(degrees - critical), 90 - degrees) < 0.2 ? 2e-3 : 2e-5;
        EXPECT_NEAR(1 - static_cast<double>(static_cast<float>(f.transmittance)), reflected, tolerance)
            << n1 << ' ' << n2 << ' ' << degrees << ' ' << mix;
      }
}

TEST(Fresnel, HasBrewstersAngleAndTotalReflection) {
  const Light brewster = light(std::atan(1.5), 90 * kDegree, 0.2);
  EXPECT_NEAR(fresnel(brewster.wave, brewster.normal, 1, 1.5F).transmittance, 1, 1e-6);
  const Light total = light(std::asin(1 / 1.5) + 1e-3, 0.4, 0.2);
  EXPECT_EQ(fresnel(total.wave, total.normal, 1.5F, 1).transmittance, Real(0));
  const Light partly = light(std::asin(1 / 1.5) - 1e-3, 0.4, 0.2);
  EXPECT_GT(fresnel(partly.wave, partly.normal, 1.5F, 1).transmittance, Real(0.05F));
}

// By Snell's law in double; polarisations by the fields' continuity: what is tangential before equals what is behind.
TEST(Fresnel, BendsAndPolarises) {
  for (const auto& [n1, n2] : {std::pair(1.0, 1.5), {1.5, 1.0}, {1.33, 1.49}})
    for (const double degrees : kAngles)
      for (const double mix : {0.0, 30.0, 70.0, 90.0}) {
        const double angle = degrees * kDegree;
        const Light at = light(angle, mix * kDegree, 2.3);
        const Fresnel f = fresnel(at.wave, at.normal, static_cast<float>(n1), static_cast<float>(n2));
        const double sine = n1 / n2 * std::sin(angle);
        const Wave up = reflected(at.wave, at.normal, f);
        EXPECT_NEAR(dot(up.direction, at.normal), std::cos(angle), 2e-6);
        EXPECT_NEAR(dot(up.direction, up.polarization), 0, 2e-6);
        EXPECT_NEAR(dot(up.polarization, up.polarization), 1, 2e-6);
        if (sine >= 1 - 1e-3) continue;
        const Wave down = refracted(at.wave, at.normal, static_cast<float>(n1), static_cast<float>(n2), f);
        const double c2 = std::sqrt(1 - sine * sine);
        EXPECT_NEAR(dot(down.direction, at.normal), -c2, 2e-6 / std::max(c2, 1e-2));
        EXPECT_NEAR(dot(down.direction, down.polarization), 0, 2e-6);
        EXPECT_NEAR(dot(cross(at.wave.direction, at.normal), down.direction), 0, 2e-6) << "it stays in the plane";

        const Amplitudes truth = interface(n1, n2, angle);
        const double s = std::cos(mix * kDegree), p = std::sin(mix * kDegree);
        // The electric field itself: of p its tangential part is times the cosine.
        const double along_s = truth.s_through.real() * s;
        const double along_p = truth.p_through.real() * p * std::cos(angle) / c2;
        const double length = std::hypot(along_s, along_p);
        EXPECT_NEAR(dot(down.polarization, at.s), along_s / length, 2e-4) << degrees << ' ' << mix;
        // Along x the fields of both sides go on with their sign.
        const Vector x = unit(at.p - dot(at.p, at.normal) * at.normal);
        EXPECT_NEAR(dot(down.polarization, x), along_p * c2 / length, 2e-4) << degrees << ' ' << mix;
        const double back = std::hypot(truth.s.real() * s, truth.p.real() * p);
        if (back > 1e-2) {
          EXPECT_NEAR(dot(up.polarization, at.s), truth.s.real() * s / back, 1e-3) << degrees << ' ' << mix;
          EXPECT_NEAR(dot(up.polarization, x), truth.p.real() * p * std::cos(angle) / back, 1e-3)
              << degrees << ' ' << mix;
        }
      }
}

TEST(Fresnel, KeepsThePolarisationAtNormalIncidence) {
  const Light at = light(0, 0.3, 0);
  const Fresnel f = fresnel(at.wave, at.normal, 1, 1.5F);
  EXPECT_NEAR(f.transmittance, 0.96F, 1e-6);
  const Wave down = refracted(at.wave, at.normal, 1, 1.5F, f);
  EXPECT_NEAR(dot(down.polarization, at.wave.polarization), 1, 1e-6);
  const Wave up = reflected(at.wave, at.normal, f);
  EXPECT_NEAR(std::abs(dot(up.polarization, at.wave.polarization)), 1, 1e-6);
  EXPECT_NEAR(up.direction.z, 1, 1e-6);
}

TEST(Metal, ReflectsAsItsComplexIndexSays) {
  for (const Complex metal :
       {Complex(0.05, 3.1), Complex(1.4, 7.5), Complex(2.5, 0.2), Complex(1.5, 0.0), Complex(0.9, 0.0)})
    for (const double n1 : {1.0, 1.48})
      for (const double degrees : kAngles)
        for (const double mix : {0.0, 35.0, 90.0}) {
          const double angle = degrees * kDegree;
          const Light at = light(angle, mix * kDegree, 1.1);
          const float r = metal_reflectance(incidence(at.wave, at.normal), static_cast<float>(n1),
                                            static_cast<float>(metal.real()), static_cast<float>(metal.imag()));
          const Amplitudes truth = interface(n1, metal, angle);
          const double s = std::cos(mix * kDegree), p = std::sin(mix * kDegree);
          const double tolerance = degrees > 88 || metal.imag() == 0 ? 2e-3 : 2e-5;
          EXPECT_NEAR(r, s * s * std::norm(truth.s) + p * p * std::norm(truth.p), tolerance)
              << metal << ' ' << n1 << ' ' << degrees << ' ' << mix;
        }
}

}  // namespace
}  // namespace raylift::photon
