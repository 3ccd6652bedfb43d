// SPDX-License-Identifier: Apache-2.0
// Photons through small scenes, on every device: means against closed forms, and the same bits however they are run.
#include <gtest/gtest.h>
#include <raylift/geometry/error.h>

#include <bit>
#include <cmath>
#include <thread>

#include "gensteps.h"
#include "pieces.h"
#include "statistics.h"

namespace raylift::photon {
namespace {

class Propagate : public test::OfPhotons {};
RAYLIFT_ON_BOTH_DEVICES(Propagate);

TEST_P(Propagate, LightIsAbsorbedAfterItsLength) {
  const Scene scene = shells({{20000, {flat("RINDEX", 1.5), flat("ABSLENGTH", 100)}}});
  Mean distance, time, tail;
  for (const Outcome& one : run(upload_scene(scene))) {
    ASSERT_EQ(one.last.kind, StepKind::absorbed);
    EXPECT_EQ(one.steps, 1U);
    const double d = std::hypot(one.photon.position.x, one.photon.position.y, one.photon.position.z);
    distance.add(d);
    tail.add(d > 200 ? 1 : 0);
    time.add(one.photon.time);
  }
  expect_mean(distance, 100, 100);
  expect_mean(time, 100 * 1.5 / kLight, 100 * 1.5 / kLight);
  EXPECT_LT(tail.off(std::exp(-2.0)), 4);
}

TEST_P(Propagate, LightScattersAsOftenAsItsLengthsSay) {
  const Scene scene =
      shells({{20000, {flat("RINDEX", 1.5), flat("ABSLENGTH", 100), flat("RAYLEIGH", 50), flat("MIEHG", 25)}}});
  Mean rayleigh, mie, steps;
  for (const Outcome& one : run(upload_scene(scene))) {
    ASSERT_EQ(one.last.kind, StepKind::absorbed);
    steps.add(one.steps);
    if (one.steps > 16) continue;  // of which the history does not know all
    int counts[2] = {0, 0};
    for (std::uint64_t history = one.history; history != 0; history >>= 4) {
      counts[0] += (history & 15) == static_cast<std::uint64_t>(StepKind::rayleigh) ? 1 : 0;
      counts[1] += (history & 15) == static_cast<std::uint64_t>(StepKind::mie) ? 1 : 0;
    }
    rayleigh.add(counts[0]);
    mie.add(counts[1]);
  }
  EXPECT_NEAR(mie.value() / rayleigh.value(), 2, 0.06);
  expect_mean(steps, 1 + 2 + 4, 7);
}

// Each photon meets the wall until it is absorbed or detected: 1 / (1 - 0.9) times in the mean.
TEST_P(Propagate, AnIntegratingSphereMultiplies) {
  for (const char* reflection : {"REFLECT_DIFFUSE", "REFLECT_SPECULAR"}) {
    Scene scene = shells({{2000, {flat("RINDEX", 1)}}, {1000, {flat("RINDEX", 1)}}});
    add_skin(scene, SurfaceModel::simple, {flat("DETECT", 0.06), flat("ABSORB", 0.04), flat(reflection, 0.9)});
    for (const bool flatten : {false, true}) {
      Mean walls, detected;
      for (const Outcome& one : run(upload_scene(scene, flatten), {}, {}, kPhotons / 2)) {
        ASSERT_TRUE(one.last.kind == StepKind::detected || one.last.kind == StepKind::absorbed_at_surface)
            << static_cast<int>(one.last.kind);
        walls.add(one.steps);
        detected.add(one.last.kind == StepKind::detected ? 1 : 0);
      }
      expect_mean(walls, 10, 10);
      expect_mean(detected, 0.6, 0.6);
    }
  }
}

TEST_P(Propagate, LightGoesOutByFresnelsEquations) {
  const Scene scene = shells({{2000, {flat("RINDEX", 1)}}, {1000, {flat("RINDEX", 1.5)}}});
  Mean inside, time;
  for (const Outcome& one : run(upload_scene(scene))) {
    ASSERT_EQ(one.last.kind, StepKind::escaped);
    inside.add(one.steps - 2);  // reflections from within: the source is the centre
    time.add(one.photon.time);
  }
  EXPECT_LT(std::abs(inside.value() - 0.04 / 0.96), 4 * inside.error() + 1e-3);
  const double once = 1.5 * 1000 / kLight, again = 2 * once * 0.04 / 0.96;
  EXPECT_NEAR(time.value(), once + again + 1000 / kLight, 4 * time.error() + 2e-3 * once);  // facets are nearer
}

TEST_P(Propagate, ShiftersEmitLaterAndAtTheirOwnWavelength) {
  const OpticalTable spectrum{"WLSCOMPONENT", OpticalTable::Axis::wavelength_nm, {490, 500, 510}, {0, 1, 0}};
  const OpticalTable length{"WLSABSLENGTH", OpticalTable::Axis::wavelength_nm, {420, 450}, {10, 1e30}};
  const Scene scene = shells(
      {{20000, {flat("RINDEX", 1), length, spectrum}, {{"WLSTIMECONSTANT", 3}, {"WLSMEANNUMBERPHOTONS", 0.75}}}});
  Mean wavelength, emitted;
  for (const Outcome& one : run(upload_scene(scene))) {
    emitted.add(one.last.kind == StepKind::escaped ? 1 : 0);
    if (one.last.kind != StepKind::escaped) {
      ASSERT_EQ(one.last.kind, StepKind::absorbed);
      continue;
    }
    wavelength.add(one.photon.wavelength - 490);
    EXPECT_GT(one.photon.time, 3);
  }
  expect_mean(emitted, 0.75, 0.75);
  expect_mean(wavelength, 10, 10);
}

// 100 draws find the part of a spectrum that has no more energy than the light: a share of 1e-2 with probability 0.63.
TEST_P(Propagate, ShiftersAbsorbLightThatTheirSpectrumDoesNotReach) {
  const auto absorbed = [this](const OpticalTable& spectrum) {
    const Scene scene = shells({{20000, {flat("RINDEX", 1), flat("WLSABSLENGTH", 10), spectrum}}});
    Mean share;
    Source source;
    source.wavelength = 450;
    for (const Outcome& one : run(upload_scene(scene), source))
      share.add((one.kinds >> static_cast<unsigned>(StepKind::shifted) & 1) == 0 ? 1 : 0);
    return share;
  };
  EXPECT_EQ(absorbed({"WLSCOMPONENT", OpticalTable::Axis::wavelength_nm, {350, 400, 440}, {0, 1, 0}}).value(), 1);
  const Mean some = absorbed({"WLSCOMPONENT", OpticalTable::Axis::wavelength_nm, {351, 451}, {1, 1}});
  EXPECT_LT(some.off(std::pow(0.99, 100)), 4);
}

TEST_P(Propagate, ReemissionHasItsProbabilityAndDelay) {
  const OpticalTable spectrum{"SCINTILLATIONCOMPONENT1", OpticalTable::Axis::wavelength_nm, {490, 500, 510}, {0, 1, 0}};
  const OpticalTable length{"ABSLENGTH", OpticalTable::Axis::wavelength_nm, {420, 450}, {1, 1e30}};
  const Scene scene = shells({{20000,
                               {flat("RINDEX", 1), length, flat("REEMISSIONPROB", 0.5), spectrum},
                               {{"SCINTILLATIONTIMECONSTANT1", 50}, {"SCINTILLATIONYIELD", 1}}}});
  Mean again, delay;
  for (const Outcome& one : run(upload_scene(scene))) {
    again.add(one.last.kind == StepKind::escaped ? 1 : 0);
    if (one.last.kind == StepKind::escaped) delay.add(one.photon.time);
  }
  expect_mean(again, 0.5, 0.5);
  EXPECT_NEAR(delay.value(), 50 + 20000 / kLight, 4 * delay.error() + 0.1);
}

// Births in a ball across a boundary: each is in the solid that holds its place.
TEST_P(Propagate, PhotonsAreBornInTheRightSolid) {
  const Scene scene = shells(
      {{2000, {flat("RINDEX", 1), flat("ABSLENGTH", 1e-3)}}, {800, {flat("RINDEX", 1), flat("ABSLENGTH", 1e-3)}}});
  Source source;
  source.radius = 1600;
  Mean within;
  for (const Outcome& one : run(upload_scene(scene), source)) {
    const double r = std::hypot(one.photon.position.x, one.photon.position.y, one.photon.position.z);
    if (r < 795) {
      ASSERT_EQ(one.last.from, 1U);
    }
    if (r > 800.1) {
      ASSERT_EQ(one.last.from, 0U);
    }
    within.add(r < 1600 / std::cbrt(2.0) ? 1 : 0);
  }
  expect_mean(within, 0.5, 0.5);
}

/// A black box with a face at x = 100, in a clear world with a face at y = -1000.
Scene black_box() {
  return test::pieces(
      {{test::box({-1000, -1000, -1000}, {1000, 1000, 1000}), kNone, {flat("RINDEX", 1)}},
       {test::box({100, -300, -300}, {300, 300, 300}), 0, {flat("RINDEX", 1), flat("ABSLENGTH", 1e-3)}}});
}

TEST_P(Propagate, ThePhotonsDirectionDecidesOnAFace) {
  const GpuGeometry geometry = upload_scene(black_box());
  Source point;
  point.center = {100, 7, 13};
  Source disc = point;
  disc.shape = Source::Shape::disc;
  disc.extent = {1, 0, 0};
  disc.radius = 50;
  for (const Source& source : {point, disc}) {
    Mean absorbed;
    for (const Outcome& one : run(geometry, source)) {
      const bool ended = one.last.kind == StepKind::absorbed;
      absorbed.add(ended ? 1 : 0);
      // Along the face, either side will do.
      if (std::abs(one.photon.direction.x) < 1e-3F) continue;
      ASSERT_EQ(ended, one.photon.direction.x > 0)
          << one.photon.position.x << ", " << one.photon.position.y << ", " << one.photon.position.z << " along "
          << one.photon.direction.x << ", " << one.photon.direction.y << ", " << one.photon.direction.z << ": "
          << one.last.from << " after " << one.steps;
      ASSERT_EQ(one.last.from, ended ? 1U : 0U);
    }
    expect_mean(absorbed, 0.5, 0.5);
  }
  Source on_world;
  on_world.center = {-700, -1000, 500};
  on_world.aim = Source::Aim::cone;
  on_world.direction = {0.8F, 0.6F, 0};
  for (const Outcome& one : run(geometry, on_world, {}, 100)) {
    EXPECT_EQ(one.last.from, 0U);
    EXPECT_GT(one.photon.position.y, 0);
  }
}

TEST_P(Propagate, GivenPhotonsAndGenstepsOnAFaceGoByTheirDirection) {
  const GpuGeometry geometry = upload_scene(black_box());
  std::vector<StartPhoton> photons;
  std::vector<Genstep> torches;
  for (const Float3& direction :
       {Float3{1, 0, 0}, Float3{-1, 0, 0}, Float3{0.6F, 0.8F, 0}, Float3{-0.6F, 0.8F, 0}, Float3{0.1F, 0.3F, -1},
        Float3{-0.1F, 0.3F, -1}, Float3{0.1F, -2, 0.3F}, Float3{-0.1F, -2, 0.3F}}) {
    photons.emplace_back();
    photons.back().position = {100, 7, 13};
    photons.back().direction = direction;
    photons.back().wavelength = 440;
    torches.push_back(torch({100, 7, 13}, 10));
    auto details = details_of<Genstep::Torch>(torches.back());
    details.direction = direction;
    set_details(torches.back(), details);
  }
  const auto expect_by_direction = [](const std::vector<Outcome>& all) {
    for (const Outcome& one : all)
      EXPECT_EQ(one.last.kind, one.photon.direction.x > 0 ? StepKind::absorbed : StepKind::escaped)
          << one.photon.direction.x << ", " << one.photon.direction.y << ", " << one.photon.direction.z;
  };
  expect_by_direction(run(geometry, give(photons).source, {}, photons.size()));
  const Gensteps gensteps(geometry, torches, 1, Stream(device()));
  expect_by_direction(run(geometry, gensteps.source(), {}, gensteps.photons()));
}

Scene mixed() {
  Scene scene =
      shells({{3000, {flat("RINDEX", 1.33), flat("ABSLENGTH", 5000), flat("RAYLEIGH", 900)}},
              {2000, {flat("RINDEX", 1.5), flat("ABSLENGTH", 3000), flat("MIEHG", 2000)}, {{"MIEHG_FORWARD", 0.8}}},
              {900, {flat("RINDEX", 1.2), flat("ABSLENGTH", 4000)}}});
  add_skin(scene, SurfaceModel::unified,
           {flat("REFLECTIVITY", 0.95), flat("EFFICIENCY", 0.5), flat("SPECULARLOBECONSTANT", 0.6)});
  scene.optics.surfaces[0].finish = SurfaceFinish::ground;
  scene.optics.surfaces[0].value = 0.2;
  return scene;
}

TEST_P(Propagate, PhotonsHaveTheSameBitsHoweverTheyAreRun) {
  const Scene scene = mixed();
  const GpuGeometry geometry = upload_scene(scene);
  Source source;
  source.radius = 2500;
  const std::vector<Outcome> all = run(geometry, source, {.seed = 9}, 20'000);
  std::size_t kinds = 0;
  for (std::size_t first = 0; first < all.size(); first += 3001) {
    const std::size_t count = std::min<std::size_t>(3001, all.size() - first);
    const std::vector<Outcome> part = run(geometry, source, {.seed = 9, .first = first}, count);
    for (std::size_t i = 0; i != count; ++i) {
      ASSERT_TRUE(same(part[i], all[first + i])) << first + i;
      kinds |= std::size_t{1} << static_cast<unsigned>(part[i].last.kind);
      ASSERT_NE(part[i].last.kind, StepKind::inconsistent);
    }
  }
  EXPECT_EQ(std::popcount(kinds), 4) << "absorbed, at the surface, detected, escaped";

  const Device host = Device::host(kHostBudget);
  UploadOptions options;
  options.bvh = true;
  options.bvh_builder = UploadOptions::BvhBuilder::host;
  const GpuGeometry on_host = upload(scene, host, options);
  const GpuGeometry here = upload(scene, device(), options);
  const Stream stream(host);
  const DeviceBuffer<Outcome> outcomes(host, all.size());
  propagate(on_host, source, {.seed = 9}, outcomes.device(), all.size(), stream);
  std::vector<Outcome> wanted(all.size());
  outcomes.copy_to(wanted, stream);
  stream.synchronize();
  const std::vector<Outcome> got = run(here, source, {.seed = 9}, all.size());
  EXPECT_EQ(differing(got, wanted), 0U);
}

// So many that blocks on a GPU take them by kind. In coordinates of 24 bits, and of 48.
TEST_P(Propagate, ManyPhotonsHaveTheBitsOfTheHost) {
  Source source;
  source.radius = 2500;
  const std::size_t count = device().info().is_host ? 2'000 : 600'000;
  const Device host = Device::host(kHostBudget);
  for (const auto positions : {UploadOptions::Positions::automatic, UploadOptions::Positions::fine}) {
    UploadOptions options;
    options.bvh = true;
    options.bvh_builder = UploadOptions::BvhBuilder::host;
    options.positions = positions;
    const GpuGeometry on_host = upload(mixed(), host, options);
    const GpuGeometry here = upload(mixed(), device(), options);
    ASSERT_EQ(here.view().is_fine(), positions == UploadOptions::Positions::fine);
    const Stream stream(host);
    const DeviceBuffer<Outcome> outcomes(host, count);
    propagate(on_host, source, {.seed = 12}, outcomes.device(), count, stream);
    std::vector<Outcome> wanted(count);
    outcomes.copy_to(wanted, stream);
    stream.synchronize();
    const std::vector<Outcome> got = run(here, source, {.seed = 12}, count);
    EXPECT_EQ(differing(got, wanted), 0U);
  }
}

// On a GPU, so many that most of them take many rounds; and so that streams beside the callers' are used in turn.
TEST_P(Propagate, RunsOfSeveralThreadsAtOnceHaveTheSameBits) {
  const GpuGeometry geometry = upload_scene(mixed());
  Source source;
  source.radius = 2500;
  const std::size_t count = device().info().is_host ? 2'000 : 200'000;
  const std::vector<Outcome> alone = run(geometry, source, {.seed = 9}, count);
  constexpr std::size_t kThreads = 3;
  std::vector<Outcome> together[kThreads];
  std::vector<std::thread> threads;
  for (std::vector<Outcome>& outcomes : together)
    threads.emplace_back([&] {
      for (int again = 0; again != 2; ++again) outcomes = run(geometry, source, {.seed = 9}, count);
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<Outcome>& outcomes : together) {
    EXPECT_EQ(differing(outcomes, alone), 0U);
  }
}

TEST_P(Propagate, PhotonsAreCutByStepsAndTime) {
  Scene scene = shells({{2000, {flat("RINDEX", 1)}}, {1000, {flat("RINDEX", 1)}}});
  add_skin(scene, SurfaceModel::simple, {flat("REFLECT_SPECULAR", 1)});
  const GpuGeometry geometry = upload_scene(scene);
  for (const Outcome& one : run(geometry, {}, {.most_steps = 5}, 100)) {
    EXPECT_EQ(one.last.kind, StepKind::cut);
    EXPECT_EQ(one.steps, 5U);
  }
  for (const Outcome& one : run(geometry, {}, {.latest = 20}, 100)) {
    EXPECT_EQ(one.last.kind, StepKind::cut);
    EXPECT_GT(one.photon.time, 20);
    EXPECT_LT(one.photon.time, 20 + 2001 / kLight);
  }
}

TEST_P(Propagate, NeedsABvhAndOptics) {
  const Stream stream(device());
  const DeviceBuffer<Outcome> outcomes(device(), 1);
  const auto kind = [&](const Scene& scene, bool bvh) {
    UploadOptions options;
    options.bvh = bvh;
    const GpuGeometry geometry = upload(scene, device(), options);
    try {
      propagate(geometry, {}, {}, outcomes.device(), 1, stream);
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::io;
  };
  Scene scene = mixed();
  EXPECT_EQ(kind(scene, false), ErrorKind::usage);
  scene.optics = {};
  EXPECT_EQ(kind(scene, true), ErrorKind::usage);
}

// Light that meets them would be wrong without a word.
TEST_P(Propagate, RefusesLookUpTablesByName) {
  for (const SurfaceModel model : {SurfaceModel::lut, SurfaceModel::davis}) {
    Scene scene = shells({{1000, {flat("RINDEX", 1)}}, {300, {flat("RINDEX", 1.5)}}});
    add_skin(scene, model, {});
    try {
      refuse_unsimulated(scene);
      FAIL() << "not refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unsupported);
      EXPECT_NE(std::string(error.what()).find("'skin'"), std::string::npos) << error.what();
    }
    for (const Outcome& one : run(upload_scene(scene), {}, {}, 100)) EXPECT_EQ(one.last.kind, StepKind::inconsistent);
    scene.optics.assignments.clear();
    EXPECT_NO_THROW(refuse_unsimulated(scene)) << "nothing uses it";
  }
}

}  // namespace
}  // namespace raylift::photon
