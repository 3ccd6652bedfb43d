// SPDX-License-Identifier: Apache-2.0
// Births: their densities against closed forms, within four standard errors and with samples that tell 2 %.
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/photon/rays.h>

#include <cmath>
#include <limits>

#include "shells.h"
#include "statistics.h"

namespace raylift::photon {
namespace {

struct Vec {
  double x, y, z;
};
Vec of(Float3 v) {
  return {double{v.x}, double{v.y}, double{v.z}};
}
Vec of(const Double3& v) {
  return {v.x, v.y, v.z};
}
double dot(Vec a, Vec b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
Vec minus(Vec a, Vec b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}

class Sources : public test::OfPhotons {
 protected:
  /// Photons at their births: their time is over before their first step.
  [[nodiscard]] std::vector<Photon> births(const Source& source, std::size_t count = kPhotons) const {
    const Scene scene = shells({{5000, {flat("RINDEX", 1.4F)}}, {1000, {flat("RINDEX", 1.3F)}}});
    std::vector<Photon> photons;
    for (const Outcome& one : run(upload_scene(scene), source, {.seed = 3, .latest = -1}, count)) {
      EXPECT_EQ(one.last.kind, StepKind::cut);
      EXPECT_EQ(one.steps, 0U);
      photons.push_back(one.photon);
    }
    return photons;
  }
  /// As all photons have them.
  static void check_wave(const Photon& photon) {
    const Vec direction = of(photon.direction), polarization = of(photon.polarization);
    ASSERT_NEAR(dot(direction, direction), 1, 1e-6);
    ASSERT_NEAR(dot(polarization, polarization), 1, 1e-6);
    ASSERT_NEAR(dot(direction, polarization), 0, 1e-6);
  }
};
RAYLIFT_ON_BOTH_DEVICES(Sources);

TEST_P(Sources, APointShinesInAllDirections) {
  Source source;
  source.center = {100, 200, -300};
  Mean up, squared, polarized;
  for (const Photon& one : births(source)) {
    ASSERT_EQ(one.position, (Float3{100, 200, -300}));
    ASSERT_EQ(one.wavelength, 420);
    ASSERT_EQ(one.time, 0);
    check_wave(one);
    up.add(one.direction.y > 0.5F ? 1 : 0);
    squared.add(double{one.direction.x} * double{one.direction.x});
    polarized.add(double{one.polarization.z} * double{one.polarization.z});
  }
  expect_mean(up, 0.25, 0.25);
  expect_mean(squared, 1.0 / 3, 1.0 / 3);
  expect_mean(polarized, 1.0 / 3, 1.0 / 3);
}

TEST_P(Sources, ABallIsFilled) {
  Source source;
  source.center = {300, 0, 0};
  source.radius = 900;
  Mean radius, squared, half;
  for (const Photon& one : births(source)) {
    const Vec from = minus(of(one.position), of(source.center));
    const double r = std::sqrt(dot(from, from));
    ASSERT_LE(r, 900.01);
    radius.add(r);
    squared.add(from.y * from.y);
    half.add(from.z > 450 ? 1 : 0);
    ASSERT_EQ(one.in.solid, std::hypot(one.position.x, one.position.y, one.position.z) < 993 ? 1U : one.in.solid);
    ASSERT_EQ(one.in.solid, std::hypot(one.position.x, one.position.y, one.position.z) > 1000.1 ? 0U : one.in.solid);
  }
  expect_mean(radius, 675, 675);
  expect_mean(squared, 900.0 * 900 / 5, 900.0 * 900 / 5);
  EXPECT_LT(half.off(5.0 / 32), 4);  // a cap of half the radius
}

TEST_P(Sources, ADiscIsFilledAndShinesByLambertsLaw) {
  Source source;
  source.shape = Source::Shape::disc;
  source.center = {0, 0, 950};
  source.extent = source.direction = kAxis;
  source.radius = 500;
  source.aim = Source::Aim::lambertian;
  Mean radius, along_y, cosine, squared, azimuth;
  for (const Photon& one : births(source)) {
    const Vec from = minus(of(one.position), of(source.center));
    ASSERT_NEAR(dot(from, of(kAxis)), 0, 1e-3);
    check_wave(one);
    radius.add(std::sqrt(dot(from, from)));
    along_y.add(from.y * from.y);
    const double c = dot(of(one.direction), of(kAxis));
    ASSERT_GE(c, 0);
    cosine.add(c);
    squared.add(c * c);
    azimuth.add(double{one.direction.y} * double{one.direction.y});
  }
  expect_mean(radius, 2.0 / 3 * 500, 2.0 / 3 * 500);
  expect_mean(along_y, 500.0 * 500 / 4, 500.0 * 500 / 4);
  expect_mean(cosine, 2.0 / 3, 2.0 / 3);
  expect_mean(squared, 0.5, 0.5);
  expect_mean(azimuth, 0.25, 0.25);
}

TEST_P(Sources, ALineIsFilledAcrossBoundaries) {
  Source source;
  source.shape = Source::Shape::line;
  source.center = {100, 0, 0};
  source.extent = {900, 1200, 0};
  Mean part, distance, inside;
  for (const Photon& one : births(source)) {
    const Vec from = minus(of(one.position), of(source.center));
    const double along = (from.x * 0.6 + from.y * 0.8) / 1500;
    ASSERT_NEAR(from.x * 0.8 - from.y * 0.6, 0, 1e-2);
    ASSERT_LE(std::abs(along), 1 + 1e-6);
    part.add((along + 1) / 2);
    distance.add(std::abs(along));
    inside.add(one.in.solid == 1 ? 1 : 0);
    const double r = std::hypot(one.position.x, one.position.y, one.position.z);
    if (r < 993) {
      ASSERT_EQ(one.in.solid, 1U);
    }
    if (r > 1000.1) {
      ASSERT_EQ(one.in.solid, 0U);
    }
  }
  expect_mean(part, 0.5, 0.5);
  expect_mean(distance, 0.5, 0.5);
  // |(100 + 900 s, 1200 s)| = 1000
  const double root = std::sqrt(180'000.0 * 180'000 + 4.0 * 2'250'000 * 990'000) / 2'250'000 / 2;
  EXPECT_NEAR(inside.value(), root, 4 * inside.error() + 1e-3);  // facets are nearer
}

TEST_P(Sources, AConeIsUniformInSolidAngle) {
  for (const float half : {0.001F, 0.4F, 2.5F}) {
    Source source;
    source.aim = Source::Aim::cone;
    source.direction = kAxis;
    source.half_angle = half;
    const double most = 2 * std::pow(std::sin(double{half} / 2), 2);
    Mean lack, inner, azimuth;
    for (const Photon& one : births(source)) {
      check_wave(one);
      // 1 - cos, without the cancellation: half the squared distance of two unit vectors
      const Vec d = minus(of(one.direction), of(kAxis));
      const double here = dot(d, d) / 2;
      ASSERT_LE(here, most * 1.001 + 1e-9);
      lack.add(here);
      inner.add(here < 0.25 * most ? 1 : 0);
      azimuth.add(one.direction.y > 0 ? 1 : 0);
    }
    expect_mean(lack, most / 2, most / 2);
    expect_mean(inner, 0.25, 0.25);
    expect_mean(azimuth, 0.5, 0.5);
  }
}

TEST_P(Sources, ALaserIsADiscThatShinesOneWay) {
  Source source;
  source.shape = Source::Shape::disc;
  source.radius = 2;
  source.extent = source.direction = kAxis;
  source.aim = Source::Aim::cone;
  source.polarization = {1, 1, 0};
  // Its part across the direction: (1, 1, 0) - 0.6 (0.6, 0, -0.8), of length sqrt(2 - 0.36).
  const double length = std::sqrt(1.64);
  for (const Photon& one : births(source, 1000)) {
    ASSERT_EQ(one.direction, kAxis);
    check_wave(one);
    ASSERT_NEAR(one.polarization.x, 0.64 / length, 1e-6);
    ASSERT_NEAR(one.polarization.y, 1 / length, 1e-6);
    ASSERT_NEAR(one.polarization.z, 0.48 / length, 1e-6);
  }
}

/// The mean of f(x) over a density that is linear between points, by the midpoint rule in double.
double mean_over(const std::vector<double>& at, const std::vector<double>& density, double (*f)(double)) {
  double sum = 0, weight = 0;
  for (std::size_t i = 0; i + 1 != at.size(); ++i) {
    constexpr int kPieces = 1000;
    for (int k = 0; k != kPieces; ++k) {
      const double part = (k + 0.5) / kPieces;
      const double here = (density[i] + part * (density[i + 1] - density[i])) * (at[i + 1] - at[i]);
      weight += here;
      sum += here * f(at[i] + part * (at[i + 1] - at[i]));
    }
  }
  return sum / weight;
}

TEST_P(Sources, WavelengthsFollowTheSpectrum) {
  std::vector<double> dense, curve;
  for (int i = 0; i != 1500; ++i) {
    dense.push_back(300 + 0.2 * i);
    curve.push_back(std::exp(-0.5 * std::pow((dense.back() - 420) / 30, 2)) + (i > 1000 ? 0.1 : 0));
  }
  const std::vector<std::pair<std::vector<double>, std::vector<double>>> spectra{
      {{400, 420, 500}, {0, 3, 0}}, {{350, 351, 500, 501}, {1, 1, 0.1, 4}}, {dense, curve}};
  for (const auto& [at, density] : spectra) {
    Source source;
    source.spectrum = make_spectrum(at, density);
    Mean wavelength, below;
    const double first = at.front();
    for (const Photon& one : births(source)) {
      ASSERT_GE(one.wavelength, at.front());
      ASSERT_LE(one.wavelength, at.back());
      wavelength.add(one.wavelength - first);
      below.add(one.wavelength < 410 ? 1 : 0);
    }
    const double mean = mean_over(at, density, [](double x) { return x; }) - first;
    expect_mean(wavelength, mean, mean);
    const double share = mean_over(at, density, [](double x) { return x < 410 ? 1.0 : 0.0; });
    EXPECT_LT(below.off(share), 4);
  }
  Source source;
  source.spectrum = uniform_spectrum(350, 500);
  Mean wavelength;
  for (const Photon& one : births(source)) wavelength.add(one.wavelength - 350);
  expect_mean(wavelength, 75, 75);
}

TEST_P(Sources, TimesAreSpread) {
  Source source;
  source.time = 5;
  source.time_width = 8;
  Mean uniform, early, decay, late;
  for (const Photon& one : births(source)) {
    uniform.add(one.time - 5);
    early.add(one.time < 7 ? 1 : 0);
  }
  expect_mean(uniform, 4, 4);
  expect_mean(early, 0.25, 0.25);
  source.time_width = 0;
  source.time_constant = 26;
  for (const Photon& one : births(source)) {
    decay.add(one.time - 5);
    late.add(one.time > 31 ? 1 : 0);
  }
  expect_mean(decay, 26, 26);
  expect_mean(late, std::exp(-1.0), std::exp(-1.0));
}

// A detector's coordinates are the caller's, whatever is subtracted before they become floats.
TEST_P(Sources, CentresAreInTheScenesCoordinates) {
  Scene scene = shells({{5000, {flat("RINDEX", 1.4F)}}});
  for (Instance& instance : scene.instances)
    instance.transform = to_eigen(instance.transform).pretranslate(Eigen::Vector3d(1e9, 0, -2e8));
  scene.bounds = {};
  const GpuGeometry geometry = upload_scene(scene);
  EXPECT_EQ(geometry.view().to_scene(LocalPoint(0.5F, 1, 2)), (Double3{1e9 + 0.5, 1, -2e8 + 2}));
  EXPECT_EQ(geometry.view().from_scene({1e9 + 0.0625, 1, -2e8 + 2}), (Float3{0.0625F, 1, 2}));
  Source source;
  source.center = {1e9 + 100.0625, 0, -2e8};
  for (const Outcome& one : run(geometry, source, {.latest = -1}, 1000)) {
    ASSERT_EQ(one.last.kind, StepKind::cut) << "it is not in the world";
    ASSERT_EQ(one.photon.position, (Float3{100.0625F, 0, 0}));
  }
}

TEST_P(Sources, GivenPhotonsAreInTheScenesCoordinates) {
  Scene scene = shells({{5000, {flat("RINDEX", 1.4F)}}});
  for (Instance& instance : scene.instances)
    instance.transform = to_eigen(instance.transform).pretranslate(Eigen::Vector3d(1e6, 0, -2e5));
  scene.bounds = {};
  const GpuGeometry geometry = upload_scene(scene);
  ASSERT_EQ(geometry.view().origin[0], 1e6);
  std::vector<StartPhoton> photons(1000);
  for (std::size_t i = 0; i != photons.size(); ++i)
    photons[i] = {{1e6F + static_cast<float>(i), 1, -2e5F}, 0, {0, 0, 1}, 0, {1, 0, 0}, 400, {}};
  const Given in_scene = give(photons);
  for (StartPhoton& photon : photons) photon.position = Float3(geometry.view().from_scene(photon.position));
  // Floats from the origin of the view are finer than those of the scene: a nanometre is kept.
  for (StartPhoton& photon : photons) photon.position.y += 1e-6F;
  Given from_origin = give(photons);
  from_origin.source.photons_origin = {1e6, 0, -2e5};
  const std::vector<Outcome> a = run(geometry, in_scene.source, {.latest = -1}, photons.size());
  const std::vector<Outcome> b = run(geometry, from_origin.source, {.latest = -1}, photons.size());
  for (std::size_t i = 0; i != photons.size(); ++i) {
    ASSERT_EQ(a[i].last.kind, StepKind::cut) << "it is not in the world";
    ASSERT_EQ(a[i].photon.position, (Float3{static_cast<float>(i), 1, 0}));
    ASSERT_EQ(b[i].last.kind, StepKind::cut);
    ASSERT_EQ(b[i].photon.position, (Float3{static_cast<float>(i), 1 + 1e-6F, 0}));
  }
}

TEST_P(Sources, RaysAreTheirBirths) {
  Source disc;
  disc.shape = Source::Shape::disc;
  disc.extent = disc.direction = kAxis;
  disc.radius = 70;
  disc.aim = Source::Aim::lambertian;
  Source ball;
  ball.center = {10, 20, 30};
  ball.radius = 400;
  const GpuGeometry geometry = upload_scene(shells({{5000, {flat("RINDEX", 1.4F)}}}));
  const Stream stream(device());
  for (const Source& source : {disc, ball, Source{}}) {
    const std::vector<Photon> photons = births(source, 5000);
    const DeviceBuffer<Ray> on_device(device(), photons.size());
    make_rays(geometry, source, 3, 0, on_device.device(), 2000, stream);
    make_rays(geometry, source, 3, 2000, on_device.device() + 2000, photons.size() - 2000, stream);
    std::vector<Ray> rays(photons.size());
    on_device.copy_to(rays, stream);
    stream.synchronize();
    for (std::size_t i = 0; i != rays.size(); ++i) {
      const Vec off = minus(of(rays[i].origin), of(photons[i].position));
      ASSERT_LT(dot(off, off), 1e-6) << i;
      ASSERT_EQ(rays[i].direction, photons[i].direction) << i;
      ASSERT_EQ(rays[i].tmin, 0);
      ASSERT_EQ(rays[i].tmax, std::numeric_limits<float>::infinity());
      const Ray on_host = birth_ray(geometry.view(), source, 3, i);
      ASSERT_EQ(rays[i].origin, on_host.origin);
      ASSERT_EQ(rays[i].direction, on_host.direction);
    }
  }
  disc.extent = {0, 0, 2};
  EXPECT_THROW(make_rays(geometry, disc, 3, 0, nullptr, 0, stream), Error);
}

}  // namespace
}  // namespace raylift::photon
