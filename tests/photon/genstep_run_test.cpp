// SPDX-License-Identifier: Apache-2.0
// Gensteps' photons in runs: their numbers, the same bits on every device, and their histories.
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/photon/simulation.h>

#include "gensteps.h"
#include "support/effort.h"

namespace raylift::photon {
namespace {

class GenstepRuns : public OfGensteps {};
RAYLIFT_ON_BOTH_DEVICES(GenstepRuns);

TEST_P(GenstepRuns, PhotonsAreNumberedThroughTheSteps) {
  constexpr std::uint32_t kMax = test::effort(300'000U);
  const GpuGeometry geometry = water();
  std::vector<Genstep> steps;
  for (const std::uint32_t photons : {0U, 5U, 0U, 0U, kMax, 1U, 0U})
    steps.push_back(cerenkov({0, 0, 100.0F * static_cast<float>(steps.size())}, 1, 0.9, photons));
  const std::vector<Outcome> all = run_all(geometry, steps, {.seed = 8, .latest = 12});
  ASSERT_EQ(all.size(), kMax + 6);
  const Stream stream(device());
  const Gensteps gensteps(geometry, steps, 8, stream);
  const std::vector<Outcome> births = run(geometry, gensteps.source(), {.seed = 8, .latest = -1}, all.size());
  for (std::size_t i = 0; i != births.size(); ++i)
    ASSERT_NEAR(births[i].photon.position.z, i < 5 ? 100 : i < kMax + 5 ? 400 : 500, 1) << i;
  for (const std::size_t first : {0U, 3U, kMax / 2, kMax - 1}) {
    const std::vector<Outcome> part = run(geometry, gensteps.source(), {.seed = 8, .first = first, .latest = 12}, 7);
    for (std::size_t i = 0; i != part.size(); ++i) {
      EXPECT_EQ(part[i].photon.position, all[first + i].photon.position);
      EXPECT_EQ(part[i].photon.time, all[first + i].photon.time);
      EXPECT_EQ(part[i].history, all[first + i].history);
    }
  }
  EXPECT_THROW((void)run(geometry, gensteps.source(), {.first = kMax}, 7), Error);
  EXPECT_EQ(count(geometry, {}), 0U);
}

TEST_P(GenstepRuns, FarFromTheOriginPhotonsAreWhereTheStepsAre) {
  Scene scene = shells({{5000, {flat("RINDEX", 1.4F)}}});
  for (Instance& instance : scene.instances)
    instance.transform = to_eigen(instance.transform).pretranslate(Eigen::Vector3d(1e6, 0, -2e5));
  scene.bounds = {};
  const GpuGeometry geometry = upload_scene(scene);
  ASSERT_EQ(geometry.view().origin[0], 1e6);
  for (const Outcome& one : run_all(geometry, {torch({1e6F + 16, 1, -2e5F}, 1000)})) {
    ASSERT_EQ(one.last.kind, StepKind::cut) << "it is not in the world";
    ASSERT_EQ(one.photon.position, (Float3{16, 1, 0}));
  }
}

TEST_P(GenstepRuns, PhotonsHaveTheSameBitsAsOnTheHost) {
  Scene scene = scintillator();
  scene.optics.materials[0].tables[0] = dispersive();
  std::vector<Genstep> steps;
  for (int i = 0; i != 200; ++i) {
    steps.push_back(cerenkov({10.0F * static_cast<float>(i), 0, 0}, 30, 0.9, kPhotonsOfPhysics));
    steps.push_back(scintillation(kPhotonsOfPhysics));
    auto step = details_of<Genstep::Scintillation>(steps.back());
    step.deposit = 0.001F * static_cast<float>(i);
    set_details(steps.back(), step);
  }
  const auto on = [&](const Device& device) {
    UploadOptions options;
    options.bvh = true;
    options.bvh_builder = UploadOptions::BvhBuilder::host;
    const GpuGeometry geometry = upload(scene, device, options);
    const Stream stream(device);
    const Gensteps gensteps(geometry, steps, 6, stream);
    const DeviceBuffer<Outcome> outcomes(device, static_cast<std::size_t>(gensteps.photons()));
    propagate(geometry, gensteps.source(), {.seed = 6, .latest = -1e30F}, outcomes.device(), outcomes.size(), stream);
    std::vector<Outcome> result(outcomes.size());
    outcomes.copy_to(result, stream);
    stream.synchronize();
    return result;
  };
  const std::vector<Outcome> here = on(device()), host = on(Device::host(kHostBudget));
  ASSERT_EQ(here.size(), host.size());
  ASSERT_GT(here.size(), 10'000U);
  for (std::size_t i = 0; i != here.size(); ++i) {
    const Photon &a = here[i].photon, &b = host[i].photon;
    ASSERT_EQ(a.position, b.position) << i;
    ASSERT_EQ(a.direction, b.direction) << i;
    ASSERT_EQ(a.polarization, b.polarization) << i;
    ASSERT_EQ(a.wavelength, b.wavelength) << i;
    ASSERT_EQ(a.time, b.time) << i;
  }
}

// Sequences and records follow photons again, from the same births.
TEST_P(GenstepRuns, SimulationsTakeThem) {
  Scene scene = shells({{3000, {dispersive(), flat("ABSLENGTH", 500), flat("RAYLEIGH", 40)}}});
  const GpuGeometry geometry = upload_scene(scene);
  const Stream stream(device());
  const Gensteps gensteps(geometry, {{cerenkov({0, 0, 0}, 900, 0.9, 2000), cerenkov({0, 500, 0}, 9, 0.9, 500)}}, 5,
                          stream);
  const photon::Run how{.seed = 5};
  const std::vector<Outcome> all = run(geometry, gensteps.source(), how, 2500);
  std::vector<StartPhoton> given(all.size());
  for (std::size_t i = 0; i != given.size(); ++i)
    given[i] = {{static_cast<float>(i), 0, 0}, 0, {0, 0, 1}, 0, {1, 0, 0}, 400, {}};
  const Given array = give(given);
  for (const Source& source : {gensteps.source(), array.source}) {
    const std::vector<Outcome> outcomes = run(geometry, source, how, all.size());
    for (const std::size_t batch : {700, 2500}) {
      std::vector<Sequence> sequences;
      std::vector<PhotonRow> finals;
      Simulation::Results results;
      results.sequences = [&](auto rows) { sequences.insert(sequences.end(), rows.begin(), rows.end()); };
      results.finals = [&](auto rows) { finals.insert(finals.end(), rows.begin(), rows.end()); };
      SimulationOptions options;
      options.batch = batch;
      Simulation simulation(geometry, options);
      (void)simulation.run(source, how, all.size(), results);
      ASSERT_EQ(finals.size(), all.size());
      ASSERT_EQ(sequences.size(), all.size());
      for (std::size_t i = 0; i != all.size(); ++i) ASSERT_EQ(finals[i].position, outcomes[i].photon.position) << i;
      const std::vector<PhotonRow> records = record(geometry, source, {.seed = 5, .first = 1900}, 200);
      for (std::size_t i = 0; i != 200; ++i) {
        const Outcome& one = outcomes[1900 + i];
        if (one.steps >= kSequenceEvents) continue;
        const PhotonRow& last = records[i * kSequenceEvents + one.steps];
        ASSERT_EQ(last.position, one.photon.position) << i;
      }
    }
  }
}

// By Opticks's numbers: CERENKOV 1, SCINTILLATION 2, TORCH 13, whose flags are 1 << 0, 1 << 1 and 1 << 12.
TEST_P(GenstepRuns, HistoriesBeginWithTheKindOfLight) {
  Scene scene = scintillator();
  scene.optics.materials[0].tables.push_back(flat("RAYLEIGH", 4000));
  const GpuGeometry geometry = upload_scene(scene);
  Genstep other = scintillation(100);
  other.type = Genstep::Type::ds_scintillation;
  const Gensteps gensteps(geometry,
                          {{cerenkov({0, 0, 0}, 20, 0.9, 700), torch({0, 0, 0}, 300), scintillation(400), other}}, 5,
                          Stream(device()));
  const auto number_of = [](std::size_t i) { return i < 700 ? 1U : i < 1000 ? 13U : 2U; };
  std::vector<StartPhoton> again(1500, {{0, 0, 0}, 0, {0, 0, 1}, 0, {1, 0, 0}, 400, {}});
  for (std::size_t i = 0; i != again.size(); ++i) again[i].flags = (1U << number_of(i) >> 1U) | 1U << 5U;
  const Given array = give(again);
  for (const Source& source : {gensteps.source(), array.source}) {
    std::vector<Sequence> sequences;
    std::vector<PhotonRow> finals;
    Simulation::Results results;
    results.sequences = [&](auto rows) { sequences.insert(sequences.end(), rows.begin(), rows.end()); };
    results.finals = [&](auto rows) { finals.insert(finals.end(), rows.begin(), rows.end()); };
    Simulation simulation(geometry);
    const Tally tally = simulation.run(source, {.seed = 5}, 1500, results);
    EXPECT_EQ(tally.born(BirthKind::cerenkov), 700U);
    EXPECT_EQ(tally.born(BirthKind::scintillation), 500U);
    EXPECT_EQ(tally.born(BirthKind::torch), 300U);
    const std::vector<PhotonRow> records = record(geometry, source, {.seed = 5}, 1500);
    std::size_t long_ones = 0;  // which are followed again
    for (std::size_t i = 0; i != 1500; ++i) {
      long_ones += sequences[i].events[1] >> 4U != 0 ? 1U : 0U;
      ASSERT_EQ(sequences[i].events[0] & 15U, number_of(i)) << i;
      ASSERT_EQ(records[i * kSequenceEvents].flag, 1U << number_of(i) >> 1U) << i;
      ASSERT_EQ(records[i * kSequenceEvents].flags, 1U << number_of(i) >> 1U) << i;
      ASSERT_EQ(finals[i].flags & 0x1003U, 1U << number_of(i) >> 1U) << i;
    }
    EXPECT_GT(long_ones, 50U);
    EXPECT_LT(long_ones, 1450U);
    const std::vector<PhotonRow> cut = record(geometry, source, {.seed = 5, .most_steps = 0}, 1);
    EXPECT_EQ(cut[0].flags, 1U) << "it ends where it is born";
  }
}

}  // namespace
}  // namespace raylift::photon
