// SPDX-License-Identifier: Apache-2.0
// Photons from gensteps: their numbers, directions, spectra, places and times against integrals in double.
#include <raylift/geometry/error.h>
#include <raylift/geometry/optics/properties.h>
#include <raylift/photon/gensteps.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "gensteps.h"
#include "photon/src/generate.h"
#include "statistics.h"
#include "support/random_optics.h"

namespace raylift::photon {
namespace {

class AlongSteps : public OfGensteps {};
RAYLIFT_ON_BOTH_DEVICES(AlongSteps);

double along(Float3 v) {
  return 0.6 * double{v.x} - 0.8 * double{v.z};
}

/// The integral of f(wavelength, squared sine) over energy, by the midpoint rule.
double cerenkov_integral(const OpticalTable& index, double beta, const std::function<double(double, double)>& f,
                         double shortest = 200, double longest = 800) {
  constexpr int kPieces = 200'000;
  const double low = kEvNm / longest, high = kEvNm / shortest;
  double sum = 0;
  for (int i = 0; i != kPieces; ++i) {
    const double wavelength = kEvNm / (low + (high - low) * (i + 0.5) / kPieces);
    const double cosine = 1 / beta / index.value(wavelength);
    if (cosine < 1) sum += f(wavelength, 1 - cosine * cosine);
  }
  return sum * (high - low) / kPieces;
}

TEST_P(AlongSteps, CerenkovYieldIsThatOfFrankAndTamm) {
  const GpuGeometry geometry = water();
  const double alpha = 1 / 137.035999084, hbar_c = 1.973269804e-4;  // eV mm
  for (const double beta : {0.99, 0.74}) {
    const double integral = cerenkov_integral(dispersive(), beta, [](double, double sin2) { return sin2; });
    const double mean = alpha / hbar_c * integral * 4 * 20;  // charge 2, 20 mm
    std::vector<Genstep> steps(beta > 0.9 ? 1000 : 20000, cerenkov({0, 0, 3000}, 20, beta, kPhotonsOfPhysics));
    for (Genstep& step : steps) {
      auto details = details_of<Genstep::Cerenkov>(step);
      details.charge = 2;
      set_details(step, details);
    }
    const auto expected = mean * static_cast<double>(steps.size());
    const auto got = static_cast<double>(count(geometry, steps));
    EXPECT_LT(std::abs(got - expected), 4 * std::sqrt(expected)) << beta;
    EXPECT_GT(0.02 * expected, 8 * std::sqrt(expected)) << "too few to tell 2 %";
  }
  EXPECT_EQ(count(geometry, std::vector<Genstep>(100, cerenkov({0, 0, 0}, 20, 0.7, kPhotonsOfPhysics))), 0U);
}

/// Tables of few points, over either axis, with a step, and light beyond them.
TEST(CerenkovSum, IsTheIntegralInDouble) {
  const double step = std::nextafter(3.0, 4.0);
  const std::vector<OpticalTable> tables{
      {"RINDEX", OpticalTable::Axis::wavelength_nm, {200, 800}, {1.6, 1.3}},
      {"RINDEX", OpticalTable::Axis::wavelength_nm, {250, 600}, {1.3, 1.6}},
      {"RINDEX", OpticalTable::Axis::energy_ev, {1.55, 6.2}, {1.3, 1.6}},
      {"RINDEX", OpticalTable::Axis::energy_ev, {2, 3, 4, 5}, {1.3, 1.5, 1.35, 1.45}},
      {"RINDEX", OpticalTable::Axis::energy_ev, {2, 3, step, 4}, {1.3, 1.31, 1.5, 1.52}},
      {"RINDEX", OpticalTable::Axis::energy_ev, {7, 7.5}, {1.5, 1.6}},
      dispersive()};
  for (const OpticalTable& table : tables)
    for (const bool mixed : {false, true})
      for (const double beta : {0.99, 0.72, 0.69, 0.6}) {
        OpticalProperties material{{table}, {}};
        if (mixed)
          material.tables.push_back({"ABSLENGTH",
                                     table.axis == OpticalTable::Axis::energy_ev ? OpticalTable::Axis::wavelength_nm
                                                                                 : OpticalTable::Axis::energy_ev,
                                     {1, 1000},
                                     {10, 10}});
        const OpticsArrays arrays = test::arrays_of(test::scene_of(material));
        Genstep::Cerenkov of{};
        of.beta_inverse = static_cast<float>(1 / beta);
        of.shortest = 200;
        of.longest = 800;
        const detail::CerenkovSum got = detail::cerenkov_sum(arrays.view(), 0, of);
        double most = 0;
        const double wanted = cerenkov_integral(table, beta, [&](double, double sin2) {
          most = std::max(most, sin2);
          return sin2;
        });
        const std::string what = "table " + std::to_string(&table - tables.data()) + ", beta " + std::to_string(beta);
        EXPECT_NEAR(static_cast<float>(got.integral), wanted, 5e-5 * wanted + 1e-7) << what;
        EXPECT_NEAR(static_cast<float>(got.max_sin2), most, 1e-4 * most) << what;
        EXPECT_GE(static_cast<float>(got.max_sin2), most * (1 - 1e-6)) << what << ": energies are drawn below it";
        // In any part of the range, of which some lie beyond the table.
        for (const auto& [shortest, longest] : {std::pair(700.0F, 850.0F), {900.0F, 1000.0F}, {50.0F, 150.0F}}) {
          of.shortest = shortest;
          of.longest = longest;
          const double part = cerenkov_integral(
              table, beta, [](double, double sin2) { return sin2; }, shortest, longest);
          EXPECT_NEAR(static_cast<float>(detail::cerenkov_sum(arrays.view(), 0, of).integral), part, 5e-5 * part + 1e-7)
              << what << ", " << shortest;
        }
        // Without a range, that of the table.
        of.shortest = of.longest = 0;
        const OpticalTable::Range range = table.range();
        Genstep::Cerenkov same = of;
        same.shortest = static_cast<float>(range.shortest_nm);
        same.longest = static_cast<float>(range.longest_nm);
        EXPECT_EQ(static_cast<float>(detail::cerenkov_sum(arrays.view(), 0, of).integral),
                  static_cast<float>(detail::cerenkov_sum(arrays.view(), 0, same).integral))
            << what;
      }
  const OpticsArrays none = test::arrays_of(test::scene_of({{flat("ABSLENGTH", 5)}, {}}));
  Genstep::Cerenkov of{};
  of.beta_inverse = 1.001F;
  EXPECT_EQ(static_cast<float>(detail::cerenkov_sum(none.view(), 0, of).integral), 0);
}

TEST_P(AlongSteps, CerenkovLightHasItsAngleSpectrumAndPolarisation) {
  // Liquid argon in eV, with its steep rise towards 110 nm.
  const OpticalTable argon{"RINDEX",
                           OpticalTable::Axis::energy_ev,
                           {2, 4, 6, 8, 9.5, 10.3, 10.8, 11.2},
                           {1.229, 1.24, 1.265, 1.308, 1.37, 1.43, 1.5, 1.6}};
  struct Case {
    OpticalTable index;
    float shortest, longest;
    std::array<double, 2> betas;
  };
  for (const Case& one_case : {Case{dispersive(), 200, 800, {0.98, 0.745}}, Case{argon, 111, 600, {0.95, 0.72}}}) {
    const OpticalTable& index = one_case.index;
    const float shortest = one_case.shortest, longest = one_case.longest;
    const GpuGeometry geometry = upload_scene(shells({{20000, {index}}, {1000, {index}}}));
    for (const double beta : one_case.betas) {
      Genstep genstep = cerenkov({0, 0, 3000}, 20, beta, kPhotons);
      auto details = details_of<Genstep::Cerenkov>(genstep);
      details.shortest = shortest;
      details.longest = longest;
      set_details(genstep, details);
      Mean wavelength, cosine, azimuth;
      for (const Outcome& one : run_all(geometry, {genstep})) {
        const Photon& photon = one.photon;
        const double c = along(photon.direction);
        const double expected = std::min(1.0, 1 / beta / index.value(double{photon.wavelength}));
        ASSERT_NEAR(c, expected, 1e-5) << photon.wavelength;
        wavelength.add(double{photon.wavelength} - double{shortest});
        cosine.add(1 - c);
        azimuth.add(photon.direction.y > 0 ? 1 : 0);
        ASSERT_NEAR(double{photon.polarization.x} * double{photon.direction.x} +
                        double{photon.polarization.y} * double{photon.direction.y} +
                        double{photon.polarization.z} * double{photon.direction.z},
                    0, 1e-6);
        // In the plane of the track and the photon, away from the track.
        ASSERT_NEAR(along(photon.polarization), -std::sqrt(std::max(0.0, 1 - c * c)), 2e-4);
      }
      const auto integral = [&](const std::function<double(double, double)>& f) {
        return cerenkov_integral(index, beta, f, double{shortest}, double{longest});
      };
      const double all = integral([](double, double sin2) { return sin2; });
      const double mean_wavelength =
          integral([&](double w, double sin2) { return sin2 * (w - double{shortest}); }) / all;
      expect_mean(wavelength, mean_wavelength, mean_wavelength);
      const double mean_cosine =
          integral([&](double w, double sin2) { return sin2 * (1 - 1 / beta / index.value(w)); }) / all;
      expect_mean(cosine, mean_cosine, mean_cosine);
      expect_mean(azimuth, 0.5, 0.5);
    }
  }
}

TEST_P(AlongSteps, BirthsLieAlongTheStepInTheRightSolid) {
  const GpuGeometry geometry = water();
  Genstep genstep = cerenkov({-0.6F * 500, 0, 0.8F * 500}, 1500, 0.9, 2 * kPhotons);  // from -500 to 1000: a third
  auto details = details_of<Genstep::Cerenkov>(genstep);
  details.yield = 1;
  details.yield_at_end = 3;
  details.velocity = 250;
  details.velocity_at_end = 200;
  set_details(genstep, details);
  for (const float end : {1000.0F, 1400.0F}) {
    genstep.position = {0.6F * (end - 1500), 0, -0.8F * (end - 1500)};
    Mean fraction;
    for (const Outcome& one : run_all(geometry, {genstep})) {
      const double at = along(one.photon.position);
      const double f = (at - (double{end} - 1500)) / 1500;
      ASSERT_GE(f, -1e-6);
      ASSERT_LE(f, 1 + 1e-6);
      fraction.add(f);
      ASSERT_NEAR(one.photon.time, 2 + f * 1500 / (250 - f * 25), 1e-4);
      if (std::abs(at) < 993) {
        ASSERT_EQ(one.photon.in.solid, 1U);
      }
      if (std::abs(at) > 1000.1) {
        ASSERT_EQ(one.photon.in.solid, 0U);
      }
    }
    expect_mean(fraction, 7.0 / 12, 7.0 / 12);
  }
}

TEST_P(AlongSteps, VelocitiesHaveDefaults) {
  const std::vector<Outcome> all = run_all(water(), {cerenkov({0, 0, 3000}, 600, 0.8, 1000)});
  for (const Outcome& one : all) {
    const double f = along({one.photon.position.x, 0, one.photon.position.z - 3000}) / 600;
    ASSERT_NEAR(one.photon.time, 2 + f * 600 / (0.8 * kLight), 1e-4);
  }
}

TEST_P(AlongSteps, ScintillationHasItsComponents) {
  const GpuGeometry geometry = upload_scene(scintillator());
  Mean share, fast, slow, fast_wave, slow_wave, place, up;
  for (const Outcome& one : run_all(geometry, {scintillation(2 * kPhotons)})) {
    const Photon& photon = one.photon;
    const bool is_fast = photon.wavelength < 450;
    share.add(is_fast ? 1 : 0);
    const double delay = photon.time - 3 - photon.position.z / 100;
    ASSERT_GT(delay, -1e-3);
    (is_fast ? fast : slow).add(delay);
    (is_fast ? fast_wave : slow_wave).add(photon.wavelength - (is_fast ? 390 : 490));
    place.add(photon.position.z);
    up.add(photon.direction.x > 0.5F ? 1 : 0);
  }
  expect_mean(share, 0.75, 0.75);
  expect_mean(fast, 7, 7);
  // Geant4's rise: exp(-t / decay) (1 - exp(-t / rise)).
  const double a = 1400, b = 1 / (1 / 1400.0 + 1 / 100.0);
  const double mean = (a * a - b * b) / (a - b);
  expect_mean(slow, mean, mean);
  expect_mean(fast_wave, 10, 10);
  expect_mean(slow_wave, 10, 10);
  expect_mean(place, 15, 15);
  expect_mean(up, 0.25, 0.25);
}

TEST_P(AlongSteps, ScintillationTakesWhatItIsGiven) {
  const GpuGeometry geometry = upload_scene(scintillator());
  Genstep genstep = scintillation(kPhotons);
  auto step = details_of<Genstep::Scintillation>(genstep);
  step.component = 3;
  step.time_constant = 26;
  step.charge = 0;
  set_details(genstep, step);
  Mean delay;
  for (const Outcome& one : run_all(geometry, {genstep})) {
    ASSERT_GT(one.photon.wavelength, 489);
    ASSERT_NEAR(one.photon.position.z, 30, 1e-4);
    delay.add(one.photon.time - 3.3);
  }
  expect_mean(delay, 26, 26);
}

TEST_P(AlongSteps, ScintillationYieldGoesWithTheEnergy) {
  const GpuGeometry geometry = upload_scene(scintillator());
  // Poisson's below 10 photons, and above normal with twice the width.
  for (const auto& [deposit, steps] : {std::pair{0.0005F, 20'000}, {0.025F, 1000}}) {
    Genstep genstep = scintillation(kPhotonsOfPhysics);
    auto step = details_of<Genstep::Scintillation>(genstep);
    step.deposit = deposit;
    set_details(genstep, step);
    const double expected = 8000 * double{deposit} * steps;
    const auto got =
        static_cast<double>(count(geometry, std::vector<Genstep>(static_cast<std::size_t>(steps), genstep)));
    const double error = std::sqrt(expected) * (deposit > 0.001F ? 2 : 1);
    EXPECT_LT(std::abs(got - expected), 4 * error) << deposit;
    EXPECT_GT(0.02 * expected, 8 * std::sqrt(expected) / 2) << "too few to tell 2 %";
  }
}

TEST(Generate, NumbersArePoissons) {
  for (const float mean : {0.5F, 3.0F, 60.0F, 250.0F}) {
    Mean first, variance, none;
    for (std::uint64_t i = 0; i != 100'000; ++i) {
      RandomStream random(11, i);
      const auto drawn = static_cast<double>(detail::poisson(mean, random));
      first.add(drawn);
      variance.add((drawn - double{mean}) * (drawn - double{mean}));
      none.add(drawn == 0 ? 1 : 0);
    }
    expect_mean(first, double{mean}, double{mean});
    EXPECT_LT(variance.off(double{mean}), 4) << mean;
    if (mean < 1) {
      EXPECT_LT(none.off(std::exp(-double{mean})), 4);
    }
  }
}

TEST_P(AlongSteps, TorchesAreDiscsLinesAndPoints) {
  const GpuGeometry geometry = water();
  Genstep genstep{Genstep::Type::torch, 0, 0, 100'000, {0, 0, 3000}, 7, {}};
  Genstep::Torch torch{};
  torch.direction = {1.2F, 0, -1.6F};
  torch.wavelength = 440;
  torch.zenith[0] = 0.5F;
  torch.zenith[1] = 1;
  torch.azimuth[1] = 0.5F;
  torch.radius = 100;
  torch.shape = Genstep::Torch::Shape::disc;
  set_details(genstep, torch);
  const auto offset = [](const Photon& photon) {
    return Float3{photon.position.x, photon.position.y, photon.position.z - 3000};
  };
  Mean radius;
  for (const Outcome& one : run_all(geometry, {genstep})) {
    const Float3 from = offset(one.photon);
    ASSERT_NEAR(along(one.photon.direction), 1, 1e-6);
    ASSERT_NEAR(along(from), 0, 1e-3);
    ASSERT_GE(from.y, -1e-3);  // half of the turn: rotateUz() turns y into y here
    ASSERT_EQ(one.photon.wavelength, 440);
    ASSERT_EQ(one.photon.time, 7);
    radius.add(
        std::sqrt(double{from.x} * double{from.x} + double{from.y} * double{from.y} + double{from.z} * double{from.z}));
  }
  expect_mean(radius, 75, 75);
  torch.shape = Genstep::Torch::Shape::line;
  set_details(genstep, torch);
  genstep.photons = 100;
  const std::vector<Outcome> line = run_all(geometry, {genstep});
  for (std::size_t i = 0; i != line.size(); ++i) {
    const Float3 from = offset(line[i].photon);
    const double at = -100 + 2.0 * static_cast<double>(i);
    ASSERT_NEAR(from.x, -0.8 * at, 1e-3);  // rotateUz() turns x into (-0.8, 0, -0.6)
    ASSERT_NEAR(from.z, -0.6 * at, 1e-3);
  }
  torch.shape = Genstep::Torch::Shape::point;
  set_details(genstep, torch);
  for (const Outcome& one : run_all(geometry, {genstep})) ASSERT_EQ(one.photon.position, genstep.position);
}

TEST_P(AlongSteps, WrongOnesAreRefused) {
  const GpuGeometry geometry = water();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const auto kind_of = [&](const Genstep& genstep) {
    try {
      (void)count(geometry, {cerenkov({0, 0, 0}, 1, 0.9, 1), genstep});
    } catch (const Error& error) {
      EXPECT_EQ(error.element(), "genstep 1");
      return error.kind();
    }
    return ErrorKind::io;
  };
  Genstep genstep = cerenkov({0, 0, 0}, 1, 0.9, 1);
  genstep.type = static_cast<Genstep::Type>(8);
  EXPECT_EQ(kind_of(genstep), ErrorKind::unsupported);
  const std::vector<std::function<void(Genstep::Cerenkov&)>> faults{
      [](Genstep::Cerenkov& s) { s.displacement.y = kNan; },
      [](Genstep::Cerenkov& s) { s.length = -1; },
      [](Genstep::Cerenkov& s) { s.beta_inverse = 0.9F; },
      [](Genstep::Cerenkov& s) { s.shortest = 900; },
      [](Genstep::Cerenkov& s) { s.longest = kNan; },
      [](Genstep::Cerenkov& s) { s.charge = kNan; },
      [](Genstep::Cerenkov& s) { s.yield = -1; },
      [](Genstep::Cerenkov& s) { s.velocity_at_end = -1; },
  };
  for (const auto& fault : faults) {
    genstep = cerenkov({0, 0, 0}, 1, 0.9, 1);
    auto step = details_of<Genstep::Cerenkov>(genstep);
    fault(step);
    set_details(genstep, step);
    EXPECT_EQ(kind_of(genstep), ErrorKind::malformed) << &fault - faults.data();
  }
  genstep = cerenkov({kNan, 0, 0}, 1, 0.9, 1);
  EXPECT_EQ(kind_of(genstep), ErrorKind::malformed);
  EXPECT_EQ(kind_of(scintillation(1)), ErrorKind::malformed) << "water does not scintillate";
  genstep = scintillation(1);
  auto step = details_of<Genstep::Scintillation>(genstep);
  step.component = 4;
  set_details(genstep, step);
  EXPECT_EQ(kind_of(genstep), ErrorKind::malformed);
  genstep.type = Genstep::Type::torch;
  EXPECT_EQ(kind_of(genstep), ErrorKind::malformed);
}

}  // namespace
}  // namespace raylift::photon
