// SPDX-License-Identifier: Apache-2.0
// Photons in batches: the same bytes for any batch, and counts, hits, histories and records that say what the outcomes
// say.
#include <gtest/gtest.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/photon/propagate.h>
#include <raylift/photon/rays.h>
#include <raylift/photon/simulation.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "shells.h"
#include "support/effort.h"
#include "support/expect_error.h"

namespace raylift::photon {
namespace {

// What refers to a geometry takes no temporary.
template <class Geometry>
concept Viewed = requires(Geometry&& geometry) {
  std::forward<Geometry>(geometry).view();
};
static_assert(Viewed<const GpuGeometry&> && !Viewed<GpuGeometry>);
static_assert(std::is_constructible_v<Simulation, const GpuGeometry&>);
static_assert(!std::is_constructible_v<Simulation, GpuGeometry>);

/// Everything that a run gives.
struct All {
  Tally tally;
  std::vector<PhotonRow> hits, finals;
  std::vector<Sequence> sequences;

  [[nodiscard]] Simulation::Results results() {
    const auto append = [](auto& to) { return [&to](auto rows) { to.insert(to.end(), rows.begin(), rows.end()); }; };
    Simulation::Results results;
    results.hits = append(hits);
    results.finals = append(finals);
    results.sequences = append(sequences);
    return results;
  }
};

void expect_same(const All& a, const All& b) {
  EXPECT_EQ(a.tally.counts, b.tally.counts);
  EXPECT_TRUE(test::same_bytes(a.hits, b.hits));
  EXPECT_TRUE(test::same_bytes(a.finals, b.finals));
  EXPECT_TRUE(test::same_bytes(a.sequences, b.sequences));
}

class Simulate : public test::OfPhotons {
 protected:
  static constexpr std::size_t kCount = 5'000;

  /// All kinds of ends, a channel, and photons with more than 32 steps.
  static Scene scene() {
    Scene scene = test::shells(
        {{3000, {flat("RINDEX", 1.33), flat("ABSLENGTH", 5000), flat("RAYLEIGH", 300)}},
         {2000, {flat("RINDEX", 1.5), flat("ABSLENGTH", 3000), flat("MIEHG", 100)}, {{"MIEHG_FORWARD", 0.1}}},
         {900, {flat("RINDEX", 1.2), flat("ABSLENGTH", 4000)}}});
    test::move_away_with_sensor(scene);
    return scene;
  }
  /// Sources and results are in the scene's own coordinates, whatever the view's origin.
  [[nodiscard]] static GpuGeometry upload_to(const Device& device) { return test::upload_away(scene(), device); }
  static Source source() {
    Source source;
    source.center = {5000, -300, 70};
    source.radius = 1900;
    return source;
  }
  static constexpr photon::Run kRun{.seed = 9, .first = 100, .most_steps = 60};

  [[nodiscard]] static All simulate(const GpuGeometry& geometry, SimulationOptions options = {},
                                    std::vector<std::size_t> parts = {kCount}) {
    All all;
    options.time_bins = 8;
    options.time_to = 40;
    Simulation simulation(geometry, options);
    all.tally = simulation.nothing();
    photon::Run run = kRun;
    for (const std::size_t part : parts) {
      all.tally.add(simulation.run(source(), run, part, all.results()));
      run.first += part;
    }
    return all;
  }
};
RAYLIFT_ON_BOTH_DEVICES(Simulate);

TEST_P(Simulate, GivesTheSameBytesForAnyBatch) {
  const GpuGeometry geometry = upload_to(device());
  const All whole = simulate(geometry);
  EXPECT_EQ(whole.finals.size(), kCount);
  EXPECT_GT(whole.hits.size(), 100U);
  for (const std::size_t batch : {std::size_t{1000}, std::size_t{4096}, kCount, 10 * kCount})
    expect_same(simulate(geometry, {.batch = batch}), whole);
  expect_same(simulate(geometry, {.batch = 3000}, {1, 1'999, 3'000}), whole);

  expect_same(simulate(upload_to(Device::host(kHostBudget))), whole);
}

TEST_P(Simulate, CountsWhatBecameOfEachPhoton) {
  const GpuGeometry geometry = upload_to(device());
  const All all = simulate(geometry);
  std::map<std::pair<std::uint32_t, StepKind>, std::uint64_t> materials, surfaces;
  std::map<StepKind, std::uint64_t> kinds;
  std::uint64_t steps = 0;
  std::vector<std::uint64_t> times(8);
  for (const Outcome& one : run(geometry, source(), kRun, kCount)) {
    ++kinds[one.last.kind];
    ++materials[{one.last.material == MaterialCode::none ? 3U : one.last.material, one.last.kind}];
    ++surfaces[{one.last.surface == kNoSurface ? 1U : one.last.surface, one.last.kind}];
    steps += one.steps;
    if (one.last.kind == StepKind::detected) ++times[static_cast<std::size_t>(std::min(one.photon.time / 5, 7.0F))];
  }
  const Tally& tally = all.tally;
  EXPECT_EQ(kinds.size(), 5U) << "absorbed in the bulk and at the surface, detected, escaped, cut";
  EXPECT_EQ(tally.photons(), kCount);
  EXPECT_EQ(tally.steps(), steps);
  EXPECT_EQ(tally.channels, std::vector<std::int32_t>{4711});
  EXPECT_EQ(tally.in_channel(0), kinds[StepKind::detected]);
  EXPECT_EQ(all.hits.size(), kinds[StepKind::detected]);
  for (std::size_t bin = 0; bin != times.size(); ++bin)
    EXPECT_EQ(tally.counts[tally.layout.time(0, 2.5F + 5 * static_cast<float>(bin))], times[bin]) << bin;
  for (unsigned number = 0; number != 14; ++number) {
    const auto kind = static_cast<StepKind>(number);
    EXPECT_EQ(tally.of(kind), kinds[kind]) << to_string(kind);
    for (std::uint32_t material = 0; material != 4; ++material)
      EXPECT_EQ(tally.in_material(material, kind), (materials[{material, kind}])) << to_string(kind);
    for (std::uint32_t surface = 0; surface != 2; ++surface)
      EXPECT_EQ(tally.at_surface(surface, kind), (surfaces[{surface, kind}])) << to_string(kind);
  }
}

// Against photons that are followed step by step on the host.
TEST_P(Simulate, CountsTheStepsBeyondTables) {
  const auto narrow = [](const char* key, double value) {
    return OpticalTable{key, OpticalTable::Axis::energy_ev, {kEvNm / 500, kEvNm / 300}, {value, value}};
  };
  const Scene scene = shells({{3000, {flat("RINDEX", 1.33), flat("ABSLENGTH", 5000), narrow("RAYLEIGH", 300)}},
                              {2000, {narrow("RINDEX", 1.5), narrow("ABSLENGTH", 3000), flat("MIEHG", 400)}}});
  const GpuGeometry geometry = upload_scene(scene), on_host = upload(scene, Device::host());
  const photon::Run how{.seed = 3, .most_steps = 500};
  for (const float wavelength : {400.0F, 500.0F, 700.0F, 900.0F}) {
    Source source;
    source.radius = 1900;
    source.wavelength = wavelength;
    const Tally tally = Simulation(geometry, {.batch = 700}).run(source, how, 2000);
    std::array<std::uint64_t, 2> steps{};
    const Anchor anchor = anchor_of(on_host.view(), source);
    Follower follower(on_host.view(), source, anchor, how);
    for (std::uint64_t i = 0; i != 2000; ++i) {
      follower.start(i);
      FineRay ray;
      while (follower.ray(ray)) {
        const std::uint32_t before = follower.outcome().steps;
        follower.arrive(next_boundary(on_host.view(), ray, follower.in()));
        if (before != 0) ++steps[follower.outcome().last.material];
      }
    }
    EXPECT_GT(steps[0] + steps[1], 4000U);
    using enum BulkProperty;
    const bool beyond = wavelength > 500, far = wavelength > 800;
    const auto expect = [&](std::uint32_t material, BulkProperty property, bool counted) {
      EXPECT_EQ(tally.end_values(material, property), counted ? steps[material] : 0)
          << wavelength << ' ' << material << ' ' << static_cast<int>(property);
    };
    expect(0, index, far);
    expect(0, absorption, far);
    expect(0, rayleigh, beyond);
    expect(0, mie, false);
    expect(1, index, beyond);
    expect(1, velocity, false);
    expect(1, absorption, beyond);
    expect(1, rayleigh, false);
    expect(1, mie, far);
  }
}

/// Opticks's numbers of flags, by its own table: BULK_SCATTER is 1 << 5, so its number is 6.
std::uint32_t opticks_number_of(StepKind kind) {
  const std::map<std::string_view, std::uint32_t> numbers{
      {"none", 0},          {"rayleigh", 6}, {"mie", 6},
      {"reemitted", 5},     {"shifted", 5},  {"transmitted", 12},
      {"reflected", 11},    {"absorbed", 4}, {"absorbed_at_surface", 8},
      {"detected", 7},      {"escaped", 3},  {"no_index", 14},
      {"inconsistent", 14}, {"cut", 15}};
  return numbers.at(to_string(kind));
}

TEST_P(Simulate, RowsSayWhatTheOutcomesSay) {
  const GpuGeometry geometry = upload_to(device());
  const All all = simulate(geometry);
  const std::vector<Outcome> outcomes = run(geometry, source(), kRun, kCount);
  ASSERT_EQ(all.finals.size(), outcomes.size());
  std::vector<PhotonRow> hits;
  for (std::size_t i = 0; i != outcomes.size(); ++i) {
    const Outcome& one = outcomes[i];
    const PhotonRow& row = all.finals[i];
    const bool detected = one.last.kind == StepKind::detected;
    ASSERT_FLOAT_EQ(row.position.x, one.photon.position.x + 5000);
    ASSERT_FLOAT_EQ(row.position.y, one.photon.position.y - 300);
    ASSERT_FLOAT_EQ(row.position.z, one.photon.position.z + 70);
    ASSERT_EQ(
        std::tuple(row.time, row.direction, row.polarization, row.wavelength, row.surface, row.number, row.sensor),
        std::tuple(one.photon.time, one.photon.direction, one.photon.polarization, one.photon.wavelength,
                   one.last.surface, 100 + i, detected ? 4712U : 0U));
    ASSERT_EQ(row.flag, 1U << opticks_number_of(one.last.kind) >> 1U);
    if (detected) {
      ASSERT_EQ(row.solid, 2U);
      hits.push_back(row);
    }
    std::uint32_t flags = 1U << 12U;  // TORCH
    if (one.steps > 15) continue;
    for (std::uint64_t history = one.history; history != 0; history >>= 4)
      flags |= 1U << opticks_number_of(static_cast<StepKind>(history & 15)) >> 1U;
    ASSERT_EQ(row.flags, flags);
  }
  EXPECT_TRUE(test::same_bytes(all.hits, hits));
}

// The history of a photon that is stopped after n steps has its nth event in bits 4 to 7.
TEST_P(Simulate, SequencesHaveTheFirstEvents) {
  const GpuGeometry geometry = upload_to(device());
  const All all = simulate(geometry);
  const auto event = [&](std::size_t i, std::uint32_t slot) {
    return static_cast<std::uint32_t>(all.sequences[i].events[slot / 16] >> (4 * (slot % 16)) & 15);
  };
  const std::vector<Outcome> outcomes = run(geometry, source(), kRun, kCount);
  std::size_t long_ones = 0;
  for (std::size_t i = 0; i != kCount; ++i) ASSERT_EQ(event(i, 0), 13U) << "TORCH";
  for (std::uint32_t slot = 1; slot <= 31; slot += test::kStride) {
    photon::Run cut = kRun;
    cut.most_steps = slot;
    const std::vector<Outcome> there = run(geometry, source(), cut, kCount);
    for (std::size_t i = 0; i != kCount; ++i) {
      const bool goes_on = there[i].last.kind == StepKind::cut;
      if (outcomes[i].steps < slot) {
        ASSERT_EQ(event(i, slot), 0U) << i << ' ' << slot;
        continue;
      }
      const std::uint64_t kind = goes_on ? there[i].history >> 4 & 15 : there[i].history & 15;
      ASSERT_EQ(event(i, slot), opticks_number_of(static_cast<StepKind>(kind))) << i << ' ' << slot;
      long_ones += slot == 31 ? 1U : 0U;
    }
  }
  EXPECT_GT(long_ones, 100U);
}

TEST_P(Simulate, RecordsHaveEachStep) {
  const GpuGeometry geometry = upload_to(device());
  const All all = simulate(geometry);
  constexpr std::size_t kRecorded = 1000;
  const std::vector<PhotonRow> record = photon::record(geometry, source(), kRun, kRecorded);
  ASSERT_EQ(record.size(), kRecorded * 32);
  std::size_t ended = 0;
  for (std::size_t i = 0; i != kRecorded; ++i) {
    const PhotonRow* rows = &record[i * 32];
    EXPECT_EQ(rows[0].flag, 1U << 12U) << "TORCH";
    EXPECT_EQ(rows[0].flags, 1U << 12U);
    EXPECT_EQ(rows[0].time, 0);
    EXPECT_LT(std::hypot(rows[0].position.x - 5000, rows[0].position.y + 300, rows[0].position.z - 70), 1901);
    std::size_t last = 0;
    for (std::uint32_t slot = 0; slot != 32; ++slot) {
      const std::uint32_t number =
          static_cast<std::uint32_t>(all.sequences[i].events[slot / 16] >> (4 * (slot % 16)) & 15);
      ASSERT_EQ(rows[slot].flag, 1U << number >> 1U);
      if (number == 0) continue;
      last = slot;
      if (slot != 0) {
        EXPECT_GE(rows[slot].time, rows[slot - 1].time);
      }
    }
    // What has ended within 31 steps has its final state there.
    if (last == 31) continue;
    ++ended;
    EXPECT_EQ(std::memcmp(&rows[last], &all.finals[i], sizeof(PhotonRow)), 0) << i;
  }
  EXPECT_GT(ended, 500U);
  EXPECT_TRUE(photon::record(geometry, source(), kRun, 0).empty());
}

TEST_P(Simulate, RecordingCanBeStopped) {
  const GpuGeometry geometry = upload_to(device());
  struct Stopped {};
  std::size_t last = 0;
  const auto stop = [&](std::size_t recorded) {
    last = recorded;
    throw Stopped{};
  };
  EXPECT_THROW((void)photon::record(geometry, source(), kRun, 40'000, stop), Stopped);
  EXPECT_EQ(last, device().info().is_host ? 64 : 16'384) << "the first turn, the first piece";
  // Turns and pieces change nothing; the last call has the number of photons.
  std::vector<std::size_t> turns;
  const std::vector<PhotonRow> record =
      photon::record(geometry, source(), kRun, 40'000, [&](std::size_t recorded) { turns.push_back(recorded); });
  EXPECT_TRUE(std::is_sorted(turns.begin(), turns.end()));
  EXPECT_EQ(turns.back(), 40'000U);
  EXPECT_GE(turns.size(), 3U);
  const Stream stream(device());
  const DeviceBuffer<PhotonRow> at_once(device(), record.size());
  photon::record(geometry, source(), kRun, at_once.device(), 40'000, stream);
  std::vector<PhotonRow> expected(record.size());
  at_once.copy_to(std::span(expected), stream);
  stream.synchronize();
  EXPECT_EQ(std::memcmp(record.data(), expected.data(), record.size() * sizeof(PhotonRow)), 0);
}

TEST_P(Simulate, NullPointersAreRefused) {
  const GpuGeometry geometry = upload_to(device());
  const Stream stream(device());
  test::expect_error(ErrorKind::usage, [&] { propagate(geometry, source(), kRun, nullptr, 1, stream); });
  test::expect_error(ErrorKind::usage, [&] { photon::record(geometry, source(), kRun, nullptr, 1, stream); });
  test::expect_error(ErrorKind::usage, [&] { make_rays(geometry, source(), 1, 0, nullptr, 1, stream); });
  const DeviceBuffer<Outcome> outcomes(device(), 1);
  Source given = source(), made = source();
  given.photon_count = 1;
  made.gensteps.count = 1;
  for (const Source& wrong : {given, made}) {
    test::expect_error(ErrorKind::usage, [&] { propagate(geometry, wrong, kRun, outcomes.device(), 1, stream); });
    test::expect_error(ErrorKind::usage, [&] { (void)photon::record(geometry, wrong, kRun, 1); });
    test::expect_error(ErrorKind::usage, [&] { Simulation(geometry).run(wrong, kRun, 1); });
  }
}

TEST_P(Simulate, GoesOnAfterAnErrorOfWhoTakesResults) {
  const GpuGeometry geometry = upload_to(device());
  Simulation simulation(geometry, {.batch = 1000});
  All all;
  Simulation::Results results = all.results();
  std::vector<std::uint64_t> done;
  results.done = [&](std::uint64_t photons) {
    done.push_back(photons);
    if (photons == 3000) throw Error(ErrorKind::cancelled, "enough");
  };
  EXPECT_THROW((void)simulation.run(source(), kRun, kCount, results), Error);
  EXPECT_EQ(done, (std::vector<std::uint64_t>{1000, 2000, 3000}));
  All again;
  again.tally = simulation.run(source(), kRun, kCount, again.results());
  EXPECT_EQ(again.tally.photons(), kCount);
  EXPECT_TRUE(test::same_bytes(again.hits, simulate(geometry).hits));
}

// Two devices by turns, one after the other here: batch i is of device i modulo 2.
// A batch of the host device takes many seconds: a caller can end it earlier.
TEST_P(Simulate, EndsWithinABatchOnTheHost) {
  if (!device().info().is_host) GTEST_SKIP() << "batches of a GPU take milliseconds";
  const GpuGeometry geometry = upload_to(device());
  std::vector<std::uint64_t> places;
  Simulation::Results results;
  results.during = [&](std::uint64_t place) { places.push_back(place); };
  results.sequences = [](auto) {};
  Simulation simulation(geometry, {.batch = 12'000});
  (void)simulation.run(source(), kRun, 20'000, results);
  ASSERT_GE(places.size(), 4U) << "after the first few photons, and at the end of each batch";
  EXPECT_TRUE(std::is_sorted(places.begin(), places.end()));
  EXPECT_EQ(places.back(), 20'000U);

  std::uint64_t finished = 0;
  results.done = [&](std::uint64_t done) { finished = done; };
  results.during = [](std::uint64_t) { throw Error(ErrorKind::cancelled, "enough"); };
  EXPECT_THROW((void)simulation.run(source(), kRun, 20'000, results), Error);
  EXPECT_EQ(finished, 0U);
}

TEST_P(Simulate, SharesMakeTheWhole) {
  const GpuGeometry geometry = upload_to(device());
  const All whole = simulate(geometry);
  Simulation simulation(geometry, {.batch = 300, .time_bins = 8, .time_to = 40});
  Tally sum = simulation.nothing();
  std::map<std::uint64_t, std::vector<PhotonRow>> batches;
  for (const std::uint32_t index : {1U, 0U}) {
    Simulation::Results results;
    std::vector<PhotonRow>* rows = nullptr;
    results.begin = [&](std::uint64_t first) {
      EXPECT_EQ(first / 300 % 2, index);
      rows = &batches[first];
    };
    results.hits = [&](auto hits) { rows->insert(rows->end(), hits.begin(), hits.end()); };
    sum.add(simulation.run(source(), kRun, kCount, results, {index, 2}));
  }
  EXPECT_EQ(sum.counts, whole.tally.counts);
  std::vector<PhotonRow> hits;
  for (const auto& [first, rows] : batches) hits.insert(hits.end(), rows.begin(), rows.end());
  EXPECT_TRUE(test::same_bytes(hits, whole.hits));
  Simulation any(geometry);
  EXPECT_THROW((void)any.run(source(), kRun, kCount, {}, {0, 2}), Error);
}

TEST(Simulation, FitsIntoTheMemoryThereIs) {
  const Device small = Device::host(std::uint64_t{8} << 20);
  UploadOptions options;
  options.bvh = true;
  const GpuGeometry geometry = upload(test::shells({{3000, {flat("RINDEX", 1)}}}), small, options);
  Simulation simulation(geometry, {.batch = 100'000});
  EXPECT_EQ(simulation.run({}, {}, 100'000).of(StepKind::escaped), 100'000U);
  EXPECT_LT(simulation.batch(), 100'000U);
  EXPECT_THROW(Simulation(geometry, {.time_bins = 8, .time_from = 3, .time_to = 3}), Error);
}

TEST(Tally, OfAnotherSceneIsRefused) {
  Tally a{{1, 1, 0, 0, 0, 0}, {}, std::vector<std::uint64_t>(10)};
  EXPECT_THROW(a.add(Tally{{2, 1, 0, 0, 0, 0}, {}, std::vector<std::uint64_t>(20)}), Error);
}

}  // namespace
}  // namespace raylift::photon
