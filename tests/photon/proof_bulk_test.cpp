// SPDX-License-Identifier: Apache-2.0
// Proofs of docs/physics.md in the bulk, end to end: photons after one event, against closed forms in double.
#include <cmath>

#include "pieces.h"
#include "statistics.h"

namespace raylift::photon {
namespace {

using test::expect_mean;
using test::flat;
using test::Mean;

constexpr double kLight = 299.792458;  // mm/ns

double length(Float3 v) {
  return std::hypot(v.x, v.y, v.z);
}

class BulkProof : public test::OfPhotons {
 protected:
  /// Photons from the middle of a large box after one event in its material.
  [[nodiscard]] std::vector<Outcome> after_one(std::vector<OpticalTable> tables,
                                               std::vector<OpticalProperties::Constant> constants = {},
                                               const Source& source = {},
                                               ShiftProfile profile = ShiftProfile::delta) const {
    const float half = 1e5;
    const Scene scene = test::pieces(
        {{test::box({-half, -half, -half}, {half, half, half}), kNone, std::move(tables), std::move(constants)}});
    return run(upload_scene(scene), source, {.seed = 21, .most_steps = 1, .shift_profile = profile});
  }
};
RAYLIFT_ON_BOTH_DEVICES(BulkProof);

// Each length by itself: the mean and the second moment of an exponential distribution.
TEST_P(BulkProof, ScatteringLength) {
  for (const char* key : {"RAYLEIGH", "MIEHG"}) {
    Mean distance, square;
    for (const Outcome& one : after_one({flat("RINDEX", 1.3), flat(key, 250)})) {
      ASSERT_TRUE(one.kinds >> static_cast<unsigned>(StepKind::rayleigh) & 3) << "or Mie";
      distance.add(length(one.photon.position));
      square.add(std::pow(length(one.photon.position), 2));
    }
    expect_mean(distance, 250, 250);
    EXPECT_LT(square.off(2 * 250 * 250), 4);
  }
}

// A table in eV from 41 to 2066 nm with an edge between 406.5 and 413.3 nm, at lasers' wavelengths, on the edge, and
// beyond what Chroma's raster covers: by hand.
TEST_P(BulkProof, AbsorptionLengthOfATableInEnergy) {
  const OpticalTable length_of{
      "ABSLENGTH", OpticalTable::Axis::energy_ev, {0.6, 1.1, 1.2, 3, 3.05, 20, 30}, {800, 100, 100, 15000, 10, 10, 2}};
  const auto between = [](double energy, double from, double at_from, double to, double at_to) {
    return at_from + (energy - from) / (to - from) * (at_to - at_from);
  };
  const std::vector<std::pair<double, double>> lengths{{1550, between(kEvNm / 1550, 0.6, 800, 1.1, 100)},
                                                       {1064, 100},
                                                       {410, between(kEvNm / 410, 3, 15000, 3.05, 10)},
                                                       {406.5, 10},
                                                       {128, 10},
                                                       {50, between(kEvNm / 50, 20, 10, 30, 2)}};
  for (const auto& [nm, expected] : lengths) {
    Source source;
    source.wavelength = static_cast<float>(nm);
    Mean distance;
    for (const Outcome& one : after_one({flat("RINDEX", 1.3), length_of}, {}, source)) {
      ASSERT_EQ(one.last.kind, StepKind::absorbed);
      distance.add(length(one.photon.position));
    }
    expect_mean(distance, expected, expected);
  }
}

Source laser(Float3 polarization) {
  Source source;
  source.aim = Source::Aim::cone;
  source.polarization = polarization;
  return source;
}

// A beam out of a box of 100 mm into another medium of the same index: each absorbs by its own length.
TEST_P(BulkProof, EachMediumAbsorbsByItsOwnLength) {
  for (const auto& [within, around] : {std::pair(200.0, 50.0), {50.0, 200.0}}) {
    const Scene scene = test::pieces(
        {{test::box({-1e5F, -1e5F, -1e5F}, {1e5F, 1e5F, 1e5F}),
          kNone,
          {flat("RINDEX", 1.3), flat("ABSLENGTH", around)},
          {}},
         {test::box({-100, -100, -100}, {100, 100, 100}), 0, {flat("RINDEX", 1.3), flat("ABSLENGTH", within)}, {}}});
    Mean in_box, beyond;
    for (const Outcome& one : run(upload_scene(scene), laser({0, 0, 0}), {.seed = 22})) {
      ASSERT_EQ(one.last.kind, StepKind::absorbed);
      const double way = length(one.photon.position);
      in_box.add(way < 100 ? 1 : 0);
      if (way > 100) beyond.add(way - 100);
    }
    const double share = 1 - std::exp(-100 / within);
    expect_mean(in_box, share, share);
    EXPECT_LT(beyond.off(around), 4);
    EXPECT_GT(beyond.off(0.9 * around), 4);
  }
}

// With k' the new direction and E, E' the polarisations, the old one along x: <(k'E)^2> = 1/5, and E' is E's part
// across k', so <(E'E)^2> = 4/5. Of unpolarised light: <cos^2> = 2/5; and as the dipoles of both polarisations across
// and within the plane of scattering radiate as 1 to cos^2, of the light 2 / (2 + 2/3) = 3/4 is polarised across it.
TEST_P(BulkProof, RayleighsAnglesAndPolarisation) {
  const std::vector<OpticalTable> tables{flat("RINDEX", 1.3), flat("RAYLEIGH", 250)};
  Mean along, kept, square, across;
  for (const Outcome& one : after_one(tables, {}, laser({1, 0, 0}))) {
    const Photon& photon = one.photon;
    along.add(std::pow(photon.direction.x, 2));
    kept.add(1 - std::pow(photon.polarization.x, 2));
  }
  expect_mean(along, 0.2, 0.2);
  expect_mean(kept, 0.2, 0.2);
  for (const Outcome& one : after_one(tables, {}, laser({0, 0, 0}))) {
    const auto& [x, y, z] = one.photon.direction;
    const Float3& e = one.photon.polarization;
    square.add(std::pow(z, 2));
    across.add(std::pow(double{e.x} * -double{y} + double{e.y} * double{x}, 2) /
               (double{x} * double{x} + double{y} * double{y}));
  }
  expect_mean(square, 0.4, 0.4);
  expect_mean(across, 0.75, 0.75);
}

// <cos> = g and <cos^2> = (1 + 2 g^2) / 3 in each of both peaks. The azimuth is any, so <(k'E)^2> is half of <sin^2>;
// and E' is E's part across k'.
TEST_P(BulkProof, MiesAnglesAndPolarisation) {
  const double forward = 0.8, backward = 0.5, ratio = 0.7;
  const std::vector<OpticalTable> tables{flat("RINDEX", 1.3), flat("MIEHG", 250)};
  const std::vector<OpticalProperties::Constant> constants{
      {"MIEHG_FORWARD", forward}, {"MIEHG_BACKWARD", backward}, {"MIEHG_FORWARD_RATIO", ratio}};
  Mean mean, square, along, lost;
  for (const Outcome& one : after_one(tables, constants, laser({1, 0, 0}))) {
    const Photon& photon = one.photon;
    mean.add(photon.direction.z);
    square.add(std::pow(photon.direction.z, 2));
    along.add(std::pow(photon.direction.x, 2));
    lost.add(1 - std::pow(photon.polarization.x, 2));
  }
  const double cosine = ratio * forward - (1 - ratio) * backward;
  const double squared = (1 + 2 * (ratio * forward * forward + (1 - ratio) * backward * backward)) / 3;
  expect_mean(mean, cosine, cosine);
  expect_mean(square, squared, squared);
  expect_mean(along, (1 - squared) / 2, (1 - squared) / 2);
  expect_mean(lost, (1 - squared) / 2, (1 - squared) / 2);
}

// Light of two colours over 100 m in a glass of Cauchy's n = A + B / l^2, whose group index is A + 3 B / l^2: the
// difference of their arrivals. And of a range of wavelengths, the mean arrival.
TEST_P(BulkProof, DispersionInArrivalTimes) {
  const double a = 1.5, b = 5000, way = 1e5;
  OpticalTable index{"RINDEX", OpticalTable::Axis::wavelength_nm, {}, {}};
  for (int i = 0; i <= 550; ++i) {
    const double nm = 250 + i;
    index.at.push_back(nm);
    index.values.push_back(a + b / (nm * nm));
  }
  const auto time = [&](double nm) { return way * (a + 3 * b / (nm * nm)) / kLight; };
  const auto arrivals = [&](const Source::Spectrum& colours) {
    Source source = laser({0, 0, 0});
    source.spectrum = colours;
    Mean mean;
    double worst = 0;
    for (const Outcome& one : after_one({index}, {}, source)) {
      const double off = std::abs(one.photon.time - time(one.photon.wavelength));
      worst = std::max(worst, one.last.kind == StepKind::escaped ? off : way);
      mean.add(one.photon.time);
    }
    EXPECT_LT(worst, 1e-6 * time(400)) << "the table's points are 1 nm apart";
    return mean;
  };
  const double blue = arrivals(uniform_spectrum(399.9F, 400.1F)).value(),
               red = arrivals(uniform_spectrum(599.9F, 600.1F)).value();
  const double difference = time(400) - time(600);
  EXPECT_NEAR(blue - red, difference, 5e-3 * difference) << "2 % is four times as much";
  // The mean of 1 / l^2 from 350 to 600 nm is 1 / (350 * 600).
  const Mean all = arrivals(uniform_spectrum(350, 600));
  const double late = way * 3 * b / (350.0 * 600.0) / kLight;
  EXPECT_LT(std::abs(all.value() - way * a / kLight - late), 4 * all.error() + 2e-3 * late);
  EXPECT_GT(0.02 * late, 4 * all.error() + 2e-3 * late);
}

/// A spectrum with points 5 nm apart, of which each interval has the trapezoid's share, alike within it.
struct Line {
  OpticalTable table;
  double mean = 0, square = 0;
};
Line line(const std::string& key, double middle) {
  Line result{{key, OpticalTable::Axis::wavelength_nm, {}, {}}};
  for (int i = -8; i <= 12; ++i) {
    const double nm = middle + 5 * i;
    result.table.at.push_back(nm);
    result.table.values.push_back(std::exp(-std::pow((nm - middle) / 20, 2)));
  }
  double sum = 0;
  for (std::size_t i = 1; i != result.table.at.size(); ++i) {
    const double share = result.table.values[i - 1] + result.table.values[i];
    const double low = result.table.at[i - 1] - middle, high = result.table.at[i] - middle;
    sum += share;
    result.mean += share * (low + high) / 2;
    result.square += share * (low * low + low * high + high * high) / 3;
  }
  result.mean /= sum;
  result.square /= sum;
  return result;
}

// The spectrum's mean and width, about its line; the delay, by what the way to the event does not explain.
void expect_emission(const std::vector<Outcome>& all, StepKind kind, const Line& truth, double middle, Mean& delay) {
  Mean mean, square;
  for (const Outcome& one : all) {
    if ((one.kinds >> static_cast<unsigned>(kind) & 1) == 0) continue;
    const double off = one.photon.wavelength - middle;
    mean.add(off);
    square.add(off * off);
    delay.add(one.photon.time - length(one.photon.position) * 1.3 / kLight);
  }
  expect_mean(mean, truth.mean, 10);  // 2 % of half a width
  expect_mean(square, truth.square, truth.square);
}

TEST_P(BulkProof, ShiftedLightsSpectrumAndDelay) {
  const Line truth = line("WLSCOMPONENT", 500);
  const std::vector<OpticalTable> tables{flat("RINDEX", 1.3), flat("WLSABSLENGTH", 10), truth.table};
  Mean delay, late;
  expect_emission(after_one(tables, {{"WLSTIMECONSTANT", 3}}), StepKind::shifted, truth, 500, delay);
  EXPECT_NEAR(delay.value(), 3, 1e-5) << "fixed, as in Geant4";
  EXPECT_LT(delay.error(), 1e-6);
  expect_emission(after_one(tables, {{"WLSTIMECONSTANT", 3}}, {}, ShiftProfile::exponential), StepKind::shifted, truth,
                  500, late);
  expect_mean(late, 3, 3);
}

// exp(-t / decay) (1 - exp(-t / rise)): its mean is that of two exponential delays, decay and rise decay / (rise +
// decay).
TEST_P(BulkProof, ReemittedLightsSpectrumAndDelay) {
  const Line truth = line("SCINTILLATIONCOMPONENT1", 500);
  const std::vector<OpticalTable> tables{flat("RINDEX", 1.3), flat("ABSLENGTH", 10), flat("REEMISSIONPROB", 0.75),
                                         truth.table};
  const std::vector<Outcome> all =
      after_one(tables, {{"SCINTILLATIONTIMECONSTANT1", 6}, {"SCINTILLATIONRISETIME1", 2}});
  Mean delay, again;
  expect_emission(all, StepKind::reemitted, truth, 500, delay);
  const double mean = 6 + 2.0 * 6 / (2 + 6);
  expect_mean(delay, mean, mean);
  for (const Outcome& one : all) again.add(one.kinds >> static_cast<unsigned>(StepKind::reemitted) & 1);
  expect_mean(again, 0.75, 0.75);
}

}  // namespace
}  // namespace raylift::photon
