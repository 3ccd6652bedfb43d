// SPDX-License-Identifier: Apache-2.0
// Proofs of docs/physics.md at boundaries, end to end: a beam through a scene, against closed forms in double.
#include <array>
#include <cmath>
#include <numbers>

#include "pieces.h"
#include "statistics.h"

namespace raylift::photon {
namespace {

using test::expect_mean;
using test::flat;
using test::kDegree;
using test::Mean;
using test::Shares;

Float3 vector(double x, double y, double z) {
  return {static_cast<float>(x), static_cast<float>(y), static_cast<float>(z)};
}
double dot(Float3 a, Float3 b) {
  return double{a.x} * double{b.x} + double{a.y} * double{b.y} + double{a.z} * double{b.z};
}
bool has(const Outcome& one, StepKind kind) {
  return (one.kinds >> static_cast<unsigned>(kind) & 1) != 0;
}

/// Below z = 0 a solid of index n2, in one of index n1.
Scene half_spaces(double n1, double n2) {
  return test::pieces({{test::box({-1000, -1000, -1000}, {1000, 1000, 1000}), kNone, {flat("RINDEX", n1)}},
                       {test::box({-900, -900, -900}, {900, 900, 0}), 0, {flat("RINDEX", n2)}}});
}

/// Comes down to the origin at an angle from the vertical, in the plane of x and z.
Source beam(double angle, Float3 polarization) {
  Source source;
  source.center = {-100 * std::sin(angle), 0, 100 * std::cos(angle)};
  source.direction = vector(std::sin(angle), 0, -std::cos(angle));
  source.aim = Source::Aim::cone;
  source.polarization = polarization;
  return source;
}

/// Fresnel's equations by sines and tangents (Born and Wolf, section 1.5.2, (20) and (21)).
struct Amplitudes {
  double r_s, r_p, t_s, t_p;
  bool total = false;
};
Amplitudes amplitudes(double n1, double n2, double a) {
  const double sine = n1 / n2 * std::sin(a);
  if (sine >= 1) return {1, 1, 0, 0, true};
  const double b = std::asin(sine);
  const double through = 2 * std::sin(b) * std::cos(a);
  return {-std::sin(a - b) / std::sin(a + b), std::tan(a - b) / std::tan(a + b), through / std::sin(a + b),
          through / (std::sin(a + b) * std::cos(a - b))};
}

class BoundaryProof : public test::OfPhotons {
 protected:
  static constexpr std::size_t kEach = 40'000;

  /// Light after one event.
  [[nodiscard]] std::vector<Outcome> after_one(const GpuGeometry& geometry, const Source& source) const {
    return run(geometry, source, {.seed = ++seed_, .most_steps = 1}, kEach);
  }

 private:
  mutable std::uint64_t seed_ = 100;
};
RAYLIFT_ON_BOTH_DEVICES(BoundaryProof);

struct Reflected {
  std::uint64_t count = 0;
  Mean s_up, s_down;  // the squared part of the polarisation across the plane of incidence
};

/// Counts, and checks all photons' directions: by the law of reflection and by Snell's.
Reflected count(const std::vector<Outcome>& all, double n1, double n2, double angle) {
  Reflected result;
  const double sine = n1 / n2 * std::sin(angle);
  double worst = 0, nearest_wrong = 1;  // of directions; an index 2 % off
  for (const Outcome& one : all) {
    const Photon& photon = one.photon;
    const double s = double{photon.polarization.y} * double{photon.polarization.y}, x = photon.direction.x;
    worst =
        std::max({worst, std::abs(double{photon.direction.y}), std::abs(dot(photon.direction, photon.polarization))});
    const bool up = has(one, StepKind::reflected);
    if (!up && !has(one, StepKind::transmitted)) worst = 1;
    worst = std::max(worst, (photon.direction.z > 0) == up ? std::abs(x - (up ? std::sin(angle) : sine)) : 1.0);
    if (!up) nearest_wrong = std::min(nearest_wrong, std::abs(x - sine / 1.02));
    result.count += up ? 1U : 0U;
    (up ? result.s_up : result.s_down).add(s);
  }
  EXPECT_LT(worst, 4e-6) << angle;
  EXPECT_GT(nearest_wrong, 100 * 4e-6) << angle;
  return result;
}

// At 12 angles, with Brewster's and total reflection, out of glass and into it. Shares within 4 standard errors; an
// index that is 2 % off is far outside.
TEST_P(BoundaryProof, FresnelsSharesAnglesAndPolarisationsAtTwelveAngles) {
  const double brewster = std::atan(1.5) / kDegree;
  for (const auto& [n1, n2, angles] :
       {std::tuple(1.0, 1.5, std::array{5.0, 15.0, 25.0, 35.0, 45.0, 52.0, brewster, 62.0, 68.0, 74.0, 80.0, 85.0}),
        {1.5, 1.0, std::array{5.0, 12.0, 18.0, 24.0, 29.0, 90 - brewster, 36.0, 39.0, 40.5, 41.5, 43.0, 70.0}}}) {
    const GpuGeometry geometry = upload_scene(half_spaces(n1, n2));
    Shares s_shares, p_shares, any_shares;
    for (const double degrees : angles) {
      const double angle = degrees * kDegree;
      const Amplitudes is = amplitudes(n1, n2, angle), wrong = amplitudes(n1, 1.02 * n2, angle);
      const auto halves = [](const Amplitudes& a) { return std::pair(a.r_s * a.r_s / 2, a.r_p * a.r_p / 2); };
      const Reflected s = count(after_one(geometry, beam(angle, {0, 1, 0})), n1, n2, angle);
      const Reflected p =
          count(after_one(geometry, beam(angle, vector(std::cos(angle), 0, std::sin(angle)))), n1, n2, angle);
      const Reflected any = count(after_one(geometry, beam(angle, {0, 0, 0})), n1, n2, angle);
      const auto [half_s, half_p] = halves(is);
      const auto [wrong_s, wrong_p] = halves(wrong);
      s_shares.add(s.count, kEach, 2 * half_s, 2 * wrong_s, "s");
      p_shares.add(p.count, kEach, 2 * half_p, 2 * wrong_p, "p");
      any_shares.add(any.count, kEach, half_s + half_p, wrong_s + wrong_p, "unpolarised");
      // What was polarised along one axis stays so; of unpolarised light each part is reflected by its own share.
      if (s.count != 0) {
        EXPECT_NEAR(s.s_up.value(), 1, 1e-6);
      }
      if (p.count != 0) {
        EXPECT_NEAR(p.s_up.value(), 0, 1e-6);
      }
      if (s.count != kEach) {
        EXPECT_NEAR(s.s_down.value(), 1, 1e-6);
      }
      if (p.count != kEach) {
        EXPECT_NEAR(p.s_down.value(), 0, 1e-6);
      }
      if (is.total) continue;
      const double up = half_s / (half_s + half_p);
      EXPECT_LT(std::abs(any.s_up.value() - up), 4 * any.s_up.error() + 1e-6) << degrees;
      EXPECT_LT(any.s_down.off((0.5 - half_s) / (1 - half_s - half_p)), 4) << degrees;
    }
    s_shares.expect("s");
    p_shares.expect("p");
    any_shares.expect("unpolarised");
  }
}

TEST_P(BoundaryProof, BrewstersAngleReflectsNothingOfPAndTotalReflectionEverything) {
  const GpuGeometry into = upload_scene(half_spaces(1, 1.5)), out = upload_scene(half_spaces(1.5, 1));
  const double brewster = std::atan(1.5);
  const Float3 p = vector(std::cos(brewster), 0, std::sin(brewster));
  std::uint64_t all = 0;
  for (std::uint64_t seed = 0; seed != 5; ++seed) {
    const std::vector<Outcome> some = run(into, beam(brewster, p), {.seed = seed, .most_steps = 1}, kAllPhotons);
    EXPECT_EQ(count(some, 1, 1.5, brewster).count, 0U);
    all += some.size();
  }
  // With an index that is 2 % off, 30 of them would be.
  EXPECT_GT(std::pow(amplitudes(1, 1.5 * 1.02, brewster).r_p, 2) * static_cast<double>(all), 30);
  const double critical = std::asin(1 / 1.5);
  EXPECT_EQ(count(after_one(out, beam(critical + 1e-3, {0, 0, 0})), 1.5, 1, critical + 1e-3).count, kEach);
  EXPECT_LT(count(after_one(out, beam(critical - 0.02 * critical, {0, 0, 0})), 1.5, 1, critical * 0.98).count,
            kEach / 2);
}

// A prism of 60 degrees. Light that goes in on the left and out on the right is deviated by Snell's law twice, least
// where it goes straight across; s stays s, so the share that goes through is T1 T2.
TEST_P(BoundaryProof, SnellThroughAPrism) {
  const double n = 1.5, apex = 60 * kDegree, height = 400 * std::sin(apex);
  const Scene scene = test::pieces({{test::box({-1000, -1000, -1000}, {1000, 1000, 1000}), kNone, {flat("RINDEX", 1)}},
                                    {test::bar({{-200, 0}, {200, 0}, {0, height}}, 300), 0, {flat("RINDEX", n)}}});
  const GpuGeometry geometry = upload_scene(scene);
  const double least = std::asin(n * std::sin(apex / 2));
  for (const double in : {40 * kDegree, least, 57 * kDegree, 66 * kDegree}) {
    const double first = std::asin(std::sin(in) / n), second = apex - first, out = std::asin(n * std::sin(second));
    const double deviation = in + out - apex;
    // Against the left face's normal, and turned towards its upper end.
    const double c = std::cos(in), s = std::sin(in), h = std::sqrt(0.75);
    Source source;
    source.direction = vector(c * h + s / 2, 0, -c / 2 + s * h);
    source.center = {-100 - 100 * double{source.direction.x}, 0, height / 2 - 100 * double{source.direction.z}};
    source.aim = Source::Aim::cone;
    source.polarization = {0, 1, 0};
    Mean through;
    for (const Outcome& one : run(geometry, source)) {
      const bool direct = one.last.kind == StepKind::escaped && one.steps == 3 && !has(one, StepKind::reflected);
      through.add(direct ? 1 : 0);
      if (!direct) continue;
      const double turned = std::acos(std::min(1.0, dot(one.photon.direction, source.direction)));
      ASSERT_NEAR(turned, deviation, 3e-6);
      ASSERT_LT(one.photon.direction.z, source.direction.z) << "towards the base";
    }
    const double wrong = std::asin(std::sin(in) / (1.02 * n));
    EXPECT_GT(std::abs(in + std::asin(std::min(1.0, 1.02 * n * std::sin(apex - wrong))) - apex - deviation), 1e-2);
    const double r1 = amplitudes(1, n, in).r_s, r2 = amplitudes(n, 1, second).r_s;
    const double truth = (1 - r1 * r1) * (1 - r2 * r2);
    expect_mean(through, truth, truth);
  }
  EXPECT_NEAR(2 * least - apex, 37.18 * kDegree, 1e-4) << "of the least deviation";
}

// An isotropic point on the axis of a disc that detects everything.
TEST_P(BoundaryProof, SolidAngleOfADisc) {
  constexpr int kCorners = 720;
  std::vector<std::pair<double, double>> corners;
  const double radius = 600, distance = 300;
  for (int i = 0; i != kCorners; ++i) {
    const double turn = 2 * std::numbers::pi * i / kCorners;
    corners.emplace_back(radius * std::cos(turn), radius * std::sin(turn));
  }
  Scene scene = test::pieces({{test::box({-1000, -1000, -1000}, {1000, 1000, 1000}), kNone, {flat("RINDEX", 1)}},
                              {test::bar(corners, 5), 0, {flat("RINDEX", 1)}}});
  OpticalSurface sensor;
  sensor.model = SurfaceModel::simple;
  sensor.properties.tables = {flat("DETECT", 1)};
  test::add_skin_of(scene, 1, sensor);
  Source source;
  source.center = {0, -5 - distance, 0};
  Mean seen;
  for (const Outcome& one : run(upload_scene(scene), source)) seen.add(one.last.kind == StepKind::detected ? 1 : 0);
  const double truth = (1 - distance / std::hypot(distance, radius)) / 2;
  expect_mean(seen, truth, truth);
}

OpticalSurface::DichroicAngle row(double degrees, std::vector<double> reflect, std::vector<double> transmit) {
  const std::vector<double> at{400, 450, 500};
  return {degrees * kDegree,
          {"REFLECT", OpticalTable::Axis::wavelength_nm, at, std::move(reflect)},
          {"TRANSMIT", OpticalTable::Axis::wavelength_nm, at, std::move(transmit)}};
}
/// Linear in wavelength and angle, constant beyond the last one.
double dichroic(const std::array<std::array<double, 3>, 3>& table, double degrees, double wavelength) {
  const double x = std::min(degrees / 30, 2.0), y = (wavelength - 400) / 50;
  const auto i = static_cast<std::size_t>(std::min(x, 1.0)), k = static_cast<std::size_t>(std::min(y, 1.0));
  const double a = x - static_cast<double>(i), b = y - static_cast<double>(k);
  return (1 - a) * ((1 - b) * table[i][k] + b * table[i][k + 1]) +
         a * ((1 - b) * table[i + 1][k] + b * table[i + 1][k + 1]);
}

// Both shares at 6 angles and 5 wavelengths; the rest is absorbed.
TEST_P(BoundaryProof, DichroicFilterAgainstItsTable) {
  const std::array<std::array<double, 3>, 3> reflect{{{0.9, 0.6, 0.1}, {0.8, 0.4, 0.2}, {0.5, 0.5, 0.4}}};
  const std::array<std::array<double, 3>, 3> transmit{{{0.05, 0.3, 0.8}, {0.1, 0.5, 0.7}, {0.3, 0.4, 0.5}}};
  Scene scene = half_spaces(1.3, 1.3);
  OpticalSurface filter;
  filter.model = SurfaceModel::dichroic;
  filter.type = SurfaceType::dielectric_dichroic;
  for (std::size_t i = 0; i != 3; ++i)
    filter.dichroic.push_back(row(30.0 * static_cast<double>(i), {reflect[i].begin(), reflect[i].end()},
                                  {transmit[i].begin(), transmit[i].end()}));
  test::add_skin_of(scene, 1, filter);
  const GpuGeometry geometry = upload_scene(scene);
  Shares reflected, transmitted;
  for (const double degrees : {0.0, 12.0, 30.0, 47.0, 60.0, 75.0})
    for (const float wavelength : {400.0F, 413.0F, 450.0F, 488.0F, 500.0F}) {
      Source source = beam(degrees * kDegree, {0, 0, 0});
      source.wavelength = wavelength;
      std::uint64_t up = 0, down = 0;
      const std::vector<Outcome> all = after_one(geometry, source);
      for (const Outcome& one : all) {
        up += has(one, StepKind::reflected) ? 1U : 0U;
        down += has(one, StepKind::transmitted) ? 1U : 0U;
        EXPECT_EQ(!has(one, StepKind::reflected) && !has(one, StepKind::transmitted),
                  has(one, StepKind::absorbed_at_surface));
      }
      const double r = dichroic(reflect, degrees, wavelength), t = dichroic(transmit, degrees, wavelength);
      reflected.add(up, all.size(), r, 1.02 * r, "reflected");
      transmitted.add(down, all.size(), t, 1.02 * t, "transmitted");
    }
  reflected.expect("reflected");
  transmitted.expect("transmitted");
}

// EFFICIENCY times the channel's efficiency by wavelength and by angle: of beams, and of a point before a wide wall,
// whose light has each cosine as often as any other one.
TEST_P(BoundaryProof, DetectedFractionByTheEfficiencysAngle) {
  constexpr std::array kAt{0.0, 45.0, 70.0, 90.0}, kEfficiency{1.0, 0.9, 0.6, 0.1};
  const auto by_angle = [&](double degrees) {
    const std::size_t i = degrees < kAt[1] ? 0 : degrees < kAt[2] ? 1 : 2;
    return kEfficiency[i] + (kEfficiency[i + 1] - kEfficiency[i]) * (degrees - kAt[i]) / (kAt[i + 1] - kAt[i]);
  };
  Scene scene = test::pieces({{test::box({-2e5F, -2e5F, -1000}, {2e5F, 2e5F, 1000}), kNone, {flat("RINDEX", 1)}},
                              {test::box({-1.9e5F, -1.9e5F, -900}, {1.9e5F, 1.9e5F, 0}), 0, {}}});
  OpticalSurface cathode;
  cathode.type = SurfaceType::dielectric_metal;
  cathode.properties.tables = {flat("REFLECTIVITY", 0), flat("EFFICIENCY", 0.8)};
  ChannelType type;
  type.efficiency = flat("EFFICIENCY", 0.9);
  for (const double degrees : kAt) type.angles.push_back(degrees * kDegree);
  type.angle_efficiency.assign(kEfficiency.begin(), kEfficiency.end());
  scene.optics.channel_types = {type};
  ChannelAssignment channel;
  channel.solids.solid = "solid 1";
  channel.type = 0;
  scene.optics.channel_assignments = {channel};
  test::add_skin_of(scene, 1, cathode);
  const GpuGeometry geometry = upload_scene(scene);

  Shares beams;
  for (const double degrees : {0.0, 20.0, 45.0, 60.0, 70.0, 82.0}) {
    std::uint64_t seen = 0;
    for (const Outcome& one : after_one(geometry, beam(degrees * kDegree, {0, 0, 0}))) {
      seen += one.last.kind == StepKind::detected ? 1U : 0U;
      EXPECT_EQ(one.last.channel >= 0, one.last.kind == StepKind::detected);
    }
    const double truth = 0.8 * 0.9 * by_angle(degrees);
    beams.add(seen, kEach, truth, 1.02 * truth, "a beam");
  }
  beams.expect("beams");

  double sum = 0;
  constexpr int kSteps = 100'000;
  for (int i = 0; i != kSteps; ++i) sum += by_angle(std::acos((i + 0.5) / kSteps) / kDegree) / kSteps;
  Source point;
  point.center = {0, 0, 100};
  point.aim = Source::Aim::cone;
  point.direction = {0, 0, -1};
  point.half_angle = static_cast<float>(std::numbers::pi / 2);
  Mean seen;
  for (const Outcome& one : run(geometry, point)) seen.add(one.last.kind == StepKind::detected ? 1 : 0);
  expect_mean(seen, 0.8 * 0.9 * sum, 0.8 * 0.9 * sum);
}

}  // namespace
}  // namespace raylift::photon
