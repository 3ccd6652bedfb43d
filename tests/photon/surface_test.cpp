// SPDX-License-Identifier: Apache-2.0
// Surfaces: each model's distribution against a closed form, or against numerical integrals in double.
#include <gtest/gtest.h>
#include <raylift/photon/detail/surface.h>

#include <array>
#include <numbers>

#include "statistics.h"

namespace raylift::photon {
namespace {

constexpr std::uint64_t kSurfaceSeed = 77;
constexpr std::uint64_t kTries = 200'000;
const Vector kNormal = unit(Vector(1, -2, 2));

/// Light that meets the surface at an angle from its normal, polarised at an angle from the plane's normal.
Wave light(double angle, double mix = 0.6) {
  const Vector across = perpendicular(kNormal);
  const Vector d = static_cast<float>(std::sin(angle)) * across - static_cast<float>(std::cos(angle)) * kNormal;
  const Vector s = unit(cross(across, kNormal));
  const Vector p = cross(s, d);
  return {unit(d), static_cast<float>(std::cos(mix)) * s + static_cast<float>(std::sin(mix)) * p};
}

struct Counts {
  std::array<double, 4> share{};  // by SurfaceFate
  Mean cosine;                    // of what is reflected, from the normal
  Mean along;                     // its direction along the mirrored one
};

Counts run(const SurfaceAt& surface, double angle, float n1, float n2) {
  Counts counts;
  const Wave in = light(angle);
  const Vector mirror = mirrored(in.direction, kNormal);
  for (std::uint64_t photon = 0; photon != kTries; ++photon) {
    RandomStream random(kSurfaceSeed, photon);
    const SurfaceResult result = at_surface(surface, in, kNormal, n1, n2, random);
    counts.share[static_cast<std::size_t>(result.fate)] += 1.0 / static_cast<double>(kTries);
    EXPECT_NEAR(dot(result.wave.direction, result.wave.direction), 1, 1e-5);
    EXPECT_NEAR(dot(result.wave.polarization, result.wave.polarization), 1, 1e-5);
    EXPECT_NEAR(dot(result.wave.direction, result.wave.polarization), 0, 1e-5);
    const double c = dot(result.wave.direction, kNormal);
    if (result.fate == SurfaceFate::reflected) {
      EXPECT_GE(c, -1e-6);
      counts.cosine.add(c);
      counts.along.add(dot(result.wave.direction, mirror));
    }
    if (result.fate == SurfaceFate::transmitted) {
      EXPECT_LE(c, 1e-6);
    }
  }
  return counts;
}

/// Expects a share within 4 standard errors, which rejects one that is 2 % off where the share is large enough.
void expect_share(double share, double truth) {
  const double error = std::sqrt(std::max(truth * (1 - truth), 1e-12) / static_cast<double>(kTries));
  EXPECT_LT(std::abs(share - truth), 4 * error + 1e-9) << share << ' ' << truth;
  if (truth > 0.3 && truth < 0.9) {
    EXPECT_LT(4 * error, 0.02 * truth);
  }
}

double fate(const Counts& counts, SurfaceFate fate) {
  return counts.share[static_cast<std::size_t>(fate)];
}

TEST(Surface, WithoutPropertiesIsFresnels) {
  const Wave in = light(0.7);
  const double through = fresnel(in, kNormal, 1.33F, 1.5F).transmittance;
  const Counts counts = run({}, 0.7, 1.33F, 1.5F);
  expect_share(fate(counts, SurfaceFate::transmitted), through);
  expect_share(fate(counts, SurfaceFate::reflected), 1 - through);
  EXPECT_NEAR(fate(run({}, 1.2, 1.5F, 1.0F), SurfaceFate::reflected), 1, 1e-9) << "total reflection";
}

TEST(Surface, SharesByReflectivityTransmittanceAndEfficiency) {
  SurfaceAt surface;
  surface.type = SurfaceType::dielectric_metal;
  surface.reflectivity = 0.5F;
  surface.transmittance = 0.2F;
  surface.efficiency = 0.4F;
  const Counts metal = run(surface, 0.5, 1, 1);
  expect_share(fate(metal, SurfaceFate::reflected), 0.5);
  expect_share(fate(metal, SurfaceFate::transmitted), 0.2);
  expect_share(fate(metal, SurfaceFate::detected), 0.3 * 0.4);
  expect_share(fate(metal, SurfaceFate::absorbed), 0.3 * 0.6);
  EXPECT_NEAR(metal.along.value(), 1, 1e-6) << "polished: a mirror";

  // Between dielectrics REFLECTIVITY is the share that Fresnel's equations get, and TRANSMITTANCE their transmission.
  surface.type = SurfaceType::dielectric_dielectric;
  const Counts dielectric = run(surface, 0.5, 1, 1.5F);
  expect_share(fate(dielectric, SurfaceFate::reflected), 0.5 * 0.8);
  expect_share(fate(dielectric, SurfaceFate::transmitted), 0.2 + 0.5 * 0.2);
}

TEST(Surface, ReflectsByTheMetalsIndex) {
  SurfaceAt surface;
  surface.type = SurfaceType::dielectric_metal;
  surface.metal_n = 0.4F;
  surface.metal_k = 2.0F;
  const double wanted = metal_reflectance(incidence(light(1.0), kNormal), 1.4F, 0.4F, 2.0F);
  expect_share(fate(run(surface, 1.0, 1.4F, 1), SurfaceFate::reflected), wanted);
}

// Lambert: the mean cosine is 2/3, of its square 1/2.
TEST(Surface, FrontPaintIsAMirrorOrLambertian) {
  SurfaceAt surface;
  surface.reflectivity = 0.8F;
  surface.finish = SurfaceFinish::polished_front_painted;
  const Counts mirror = run(surface, 0.9, 1.3F, 1);
  expect_share(fate(mirror, SurfaceFate::reflected), 0.8);
  EXPECT_NEAR(mirror.along.value(), 1, 1e-6);
  surface.finish = SurfaceFinish::ground_front_painted;
  const Counts diffuse = run(surface, 0.9, 1.3F, 1);
  expect_share(fate(diffuse, SurfaceFate::reflected), 0.8);
  expect_mean(diffuse.cosine, 2.0 / 3, 2.0 / 3);
}

// unified on a metal: spike, lobe, backscatter and the rest Lambertian, by their constants.
TEST(Surface, UnifiedChoosesItsReflection) {
  SurfaceAt surface;
  surface.model = SurfaceModel::unified;
  surface.type = SurfaceType::dielectric_metal;
  surface.finish = SurfaceFinish::ground;
  surface.value = 0;  // facets along the surface: the lobe is a spike
  surface.spike = 0.1F;
  surface.lobe = 0.3F;
  surface.backscatter = 0.2F;
  std::array<int, 3> kinds{};
  const Wave in = light(0.8);
  const Vector mirror = mirrored(in.direction, kNormal);
  Mean diffuse;
  for (std::uint64_t photon = 0; photon != kTries; ++photon) {
    RandomStream random(kSurfaceSeed, photon);
    const SurfaceResult result = at_surface(surface, in, kNormal, 1, 1, random);
    if (dot(result.wave.direction, mirror) > Real(1 - 1e-5F))
      ++kinds[0];
    else if (dot(result.wave.direction, in.direction) < Real(-1 + 1e-5F))
      ++kinds[1];
    else {
      ++kinds[2];
      diffuse.add(dot(result.wave.direction, kNormal));
    }
  }
  expect_share(kinds[0] / static_cast<double>(kTries), 0.4);
  expect_share(kinds[1] / static_cast<double>(kTries), 0.2);
  expect_share(kinds[2] / static_cast<double>(kTries), 0.4);
  expect_mean(diffuse, 2.0 / 3, 2.0 / 3);
}

// G4OpBoundaryProcess::ChooseReflection: a spike is reflected at the surface's own normal and not at the facet's, also
// where the facet decided on the reflection: between dielectrics, and on a metal by its complex index.
TEST(Surface, SpikesAreAtTheMeanNormal) {
  SurfaceAt surface;
  surface.model = SurfaceModel::unified;
  surface.finish = SurfaceFinish::ground;
  surface.value = 0.2F;
  surface.spike = 1;
  const double angle = 1.2;
  EXPECT_GT(run(surface, angle, 1.5F, 1).along.value(), 0.99) << "but for what comes back from behind";
  surface.type = SurfaceType::dielectric_metal;
  EXPECT_NEAR(run(surface, angle, 1.5F, 1).along.value(), 1, 1e-6);
  surface.metal_n = 0.4F;
  surface.metal_k = 2.0F;
  EXPECT_NEAR(run(surface, angle, 1.5F, 1).along.value(), 1, 1e-6);
}

// At normal incidence a facet at alpha sends the light to 2 alpha: its mean cosine, over facets by
// gauss(alpha) sin(alpha), from an integral. Facets beyond 45 degrees send it into the metal, and it tries again.
TEST(Surface, LobeHasTheWidthOfSigmaAlpha) {
  for (const double sigma : {0.05, 0.1, 0.2}) {
    SurfaceAt surface;
    surface.model = SurfaceModel::unified;
    surface.type = SurfaceType::dielectric_metal;
    surface.finish = SurfaceFinish::ground;
    surface.value = static_cast<float>(sigma);
    surface.lobe = 1;
    double sum = 0, norm = 0;
    for (int i = 0; i != 100000; ++i) {
      const double alpha = (i + 0.5) * std::numbers::pi / 4 / 100000;
      const double density = std::exp(-alpha * alpha / (2 * sigma * sigma)) * std::sin(alpha);
      sum += density * (1 - std::cos(2 * alpha));
      norm += density;
    }
    const Counts counts = run(surface, 0, 1, 1);
    expect_share(fate(counts, SurfaceFate::reflected), 1);
    Mean width;  // 1 - cosine, so that 2 % of the width shows
    const Wave in = light(0);
    for (std::uint64_t photon = 0; photon != kTries; ++photon) {
      RandomStream random(kSurfaceSeed + 1, photon);
      width.add(1 - static_cast<double>(static_cast<float>(
                        dot(at_surface(surface, in, kNormal, 1, 1, random).wave.direction, kNormal))));
    }
    expect_mean(width, sum / norm, sum / norm);
  }
}

// glisur: the normal plus a vector within a ball of radius 1 - polish. At normal incidence, by an integral over the
// ball.
TEST(Surface, GlisurHasTheWidthOfItsPolish) {
  SurfaceAt surface;
  surface.type = SurfaceType::dielectric_metal;
  surface.finish = SurfaceFinish::ground;
  surface.value = 0.7F;
  const double radius = 0.3;
  double sum = 0, norm = 0;
  constexpr int kSteps = 2000;
  for (int i = 0; i != kSteps; ++i)
    for (int k = 0; k != kSteps; ++k) {
      const double r = (i + 0.5) / kSteps * radius, z = ((k + 0.5) / kSteps * 2 - 1) * radius;
      if (r * r + z * z > radius * radius) continue;
      const double c = (1 + z) / std::hypot(1 + z, r);  // of the facet
      sum += r * (1 - (2 * c * c - 1));
      norm += r;
    }
  Mean width;
  const Wave in = light(0);
  for (std::uint64_t photon = 0; photon != kTries; ++photon) {
    RandomStream random(kSurfaceSeed + 2, photon);
    const SurfaceResult result = at_surface(surface, in, kNormal, 1, 1, random);
    ASSERT_EQ(result.fate, SurfaceFate::reflected);
    width.add(1 - static_cast<double>(static_cast<float>(dot(result.wave.direction, kNormal))));
  }
  expect_mean(width, sum / norm, sum / norm);
}

// A polished back with a gap of index g and paint that mirrors R: light goes back and forth in the gap, and all that
// is reflected leaves at the mirror's angle: R1 + T1 T2 R / (1 - R2 R), with the sharing of one polarisation.
TEST(Surface, PolishedBackPaintReflectsManyTimes) {
  SurfaceAt surface;
  surface.finish = SurfaceFinish::polished_back_painted;
  surface.gap_index = 1.0F;
  surface.reflectivity = 0.9F;
  const double angle = 0.3;
  const Wave s = light(angle, 0);  // s-polarised, so it stays so
  const double r = 1 - static_cast<double>(static_cast<float>(fresnel(s, kNormal, 1.5F, 1).transmittance));
  const double wanted = r + (1 - r) * (1 - r) * 0.9 / (1 - r * 0.9);
  double reflected = 0;
  for (std::uint64_t photon = 0; photon != kTries; ++photon) {
    RandomStream random(kSurfaceSeed + 3, photon);
    const SurfaceResult result = at_surface(surface, s, kNormal, 1.5F, 7, random);
    if (result.fate != SurfaceFate::reflected) continue;
    reflected += 1.0 / static_cast<double>(kTries);
    EXPECT_NEAR(dot(result.wave.direction, kNormal), std::cos(angle), 1e-5);
  }
  expect_share(reflected, wanted);

  // The paint reflects 0.5 of the light, transmits 0.3 and absorbs the rest.
  surface.reflectivity = 0.5F;
  surface.transmittance = 0.3F;
  // TRANSMITTANCE is that of the facets too: 0.3 of the light gets into the gap, and 0.7 of what is mirrored stays
  // there.
  const Counts counts = run(surface, angle, 1.5F, 7);
  expect_share(fate(counts, SurfaceFate::transmitted), 0.3 * 0.3 / (1 - 0.5 * 0.7));
  expect_share(fate(counts, SurfaceFate::absorbed), 0.3 * 0.2 / (1 - 0.5 * 0.7));
}

// A ground back: Lambertian in the gap, of which the part beyond the gap's critical angle stays within and tries again.
// Without absorption all of it comes back.
TEST(Surface, GroundBackPaintLosesNothingByItself) {
  SurfaceAt surface;
  surface.finish = SurfaceFinish::ground_back_painted;
  surface.gap_index = 1.0F;
  surface.model = SurfaceModel::unified;
  surface.value = 0.1F;
  surface.lobe = 1;
  const Counts all = run(surface, 0.4, 1.5F, 7);
  EXPECT_GT(fate(all, SurfaceFate::reflected), 0.9999);
  surface.reflectivity = 0;
  const Counts none = run(surface, 0.4, 1.5F, 7);
  EXPECT_GT(fate(none, SurfaceFate::absorbed), 0.85);
}

TEST(Surface, RoughnessDiffusesReflectedLight) {
  SurfaceAt surface;
  surface.roughness = 0.03F;
  const double angle = 1.0, phase = 4 * std::numbers::pi * 0.03 * 1.5 * std::cos(angle);
  double mirror = 0;
  const Wave in = light(angle);
  const Vector wanted = mirrored(in.direction, kNormal);
  for (std::uint64_t photon = 0; photon != kTries; ++photon) {
    RandomStream random(kSurfaceSeed + 4, photon);
    const SurfaceResult result = at_surface(surface, in, kNormal, 1.5F, 1, random);
    if (dot(result.wave.direction, wanted) > Real(1 - 1e-5F)) mirror += 1.0 / static_cast<double>(kTries);
  }
  expect_share(mirror, std::exp(-phase * phase));
}

TEST(SimpleSurface, SharesByItsProbabilities) {
  const SimpleSurfaceAt surface{0.25F, 0.3F, 0.15F, 0.1F};
  std::array<double, 4> share{};
  for (std::uint64_t photon = 0; photon != kTries; ++photon) {
    RandomStream random(kSurfaceSeed + 5, photon);
    const SurfaceResult result = at_simple_surface(surface, light(0.2), kNormal, 1, 1, random);
    share[static_cast<std::size_t>(result.fate)] += 1.0 / static_cast<double>(kTries);
  }
  expect_share(share[static_cast<std::size_t>(SurfaceFate::detected)], 0.25);
  expect_share(share[static_cast<std::size_t>(SurfaceFate::absorbed)], 0.3);
  expect_share(share[static_cast<std::size_t>(SurfaceFate::reflected)], 0.25);
  expect_share(share[static_cast<std::size_t>(SurfaceFate::transmitted)], 0.2);
}

// Chroma's diffuse reflector forgets the polarisation: any across the new direction, whatever the light was like.
TEST(SimpleSurface, DiffuseLightIsUnpolarised) {
  const SimpleSurfaceAt surface{0, 0, 1, 0};
  Mean cosine, across, along;
  const Vector first = perpendicular(kNormal);
  for (std::uint64_t photon = 0; photon != kTries; ++photon) {
    RandomStream random(kSurfaceSeed + 6, photon);
    const SurfaceResult result = at_simple_surface(surface, light(0.9, 0), kNormal, 1, 1, random);
    ASSERT_EQ(result.fate, SurfaceFate::reflected);
    const Wave& wave = result.wave;
    EXPECT_NEAR(dot(wave.direction, wave.polarization), 0, 1e-6);
    cosine.add(dot(wave.direction, kNormal));
    const double s = dot(wave.polarization, unit(cross(wave.direction, kNormal)));
    across.add(s * s);
    // The mean along an axis of the surface: half of what the direction leaves, which is 3/4 on average.
    const double x = dot(wave.polarization, first);
    along.add(x * x);
  }
  expect_mean(cosine, 2.0 / 3, 2.0 / 3);
  expect_mean(across, 0.5, 0.5);
  expect_mean(along, 0.375, 0.375);
}

}  // namespace
}  // namespace raylift::photon
