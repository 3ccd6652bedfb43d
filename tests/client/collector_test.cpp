// SPDX-License-Identifier: Apache-2.0
// Gensteps from steps: the words that raylift reads, and no light where there is none.
#include <gtest/gtest.h>
#include <raylift/client/gensteps.h>

#include <limits>
#include <set>

namespace raylift::client {
namespace {

Step electron() {
  Step step;
  step.position[0] = 1;
  step.position[1] = 2;
  step.position[2] = 3;
  const double along[3]{0, 0, 1};
  step.go(along, 4);
  step.time = 5;
  step.charge = -1;
  step.beta = 0.99;
  step.beta_at_end = 0.97;
  step.deposit = 0.8;
  step.material = 1;
  step.track = 17;
  step.particle = 11;
  return step;
}
const std::vector<Collector::Material> kMaterials{{0, false}, {1.5, true}, {1.33, false}, {0, true}};

TEST(Collector, WritesOpticksWords) {
  Collector collector(kMaterials);
  collector.begin(3);
  collector.add(electron());
  ASSERT_EQ(collector.gensteps().size(), 2U);
  std::uint32_t words[24];
  float floats[24];
  const Genstep& light = collector.gensteps()[0];
  std::memcpy(words, &light, sizeof light);
  std::memcpy(floats, &light, sizeof light);
  EXPECT_EQ(words[0], 15U);
  EXPECT_EQ(words[1], 17U);
  EXPECT_EQ(words[2], 1U);
  EXPECT_EQ(words[3], kPhotonsOfPhysics);
  const float expected[]{1, 2, 3, 5, 0, 0, 4, 4};
  for (int i = 0; i != 8; ++i) EXPECT_EQ(floats[4 + i], expected[i]) << i;
  EXPECT_EQ(words[12], 11U);
  EXPECT_EQ(floats[13], -1);
  EXPECT_EQ(floats[14], 1);
  EXPECT_NEAR(floats[15], 0.99 * 299.792458, 1e-4);
  EXPECT_NEAR(floats[16], 1 / 0.98, 1e-6);
  EXPECT_EQ(floats[17], 0);
  EXPECT_EQ(floats[18], 0);
  EXPECT_NEAR(floats[21], 1 - 1 / (0.99 * 0.99 * 2.25), 1e-6);
  EXPECT_NEAR(floats[22], 1 - 1 / (0.97 * 0.97 * 2.25), 1e-6);
  EXPECT_NEAR(floats[23], 0.97 * 299.792458, 1e-4);
  const Genstep& glow = collector.gensteps()[1];
  std::memcpy(words, &glow, sizeof glow);
  std::memcpy(floats, &glow, sizeof glow);
  EXPECT_EQ(words[0], 16U);
  EXPECT_NEAR(floats[15], 0.98 * 299.792458, 1e-4);
  EXPECT_EQ(words[16], 0U);
  EXPECT_EQ(floats[17], 0.8F);
  EXPECT_EQ(floats[20], 0) << "the component's time";
}

std::vector<std::uint32_t> types_of(const Step& step) {
  Collector collector(kMaterials);
  collector.add(step);
  std::vector<std::uint32_t> types;
  for (const Genstep& genstep : collector.gensteps()) types.push_back(genstep.type);
  return types;
}

TEST(Collector, SendsNoStepWithoutLight) {
  using Types = std::vector<std::uint32_t>;
  EXPECT_EQ(types_of(electron()), (Types{15, 16}));
  Step step = electron();
  step.beta = step.beta_at_end = 0.66;  // below 1 / 1.5
  EXPECT_EQ(types_of(step), Types{16});
  step.beta = step.beta_at_end = 0.67;
  EXPECT_EQ(types_of(step), (Types{15, 16}));
  step = electron();
  step.charge = 0;
  EXPECT_EQ(types_of(step), Types{16}) << "a neutral particle";
  step = electron();
  step.deposit = 0;
  EXPECT_EQ(types_of(step), Types{15});
  step = electron();
  step.length = step.displacement[2] = 0;
  EXPECT_EQ(types_of(step), Types{16}) << "at rest";
  step = electron();
  step.cerenkov_photons = 0;
  step.scintillation_photons = 0;
  EXPECT_EQ(types_of(step), Types{}) << "Geant4 drew none";
  step = electron();
  step.material = 0;
  EXPECT_EQ(types_of(step), Types{});
  step.material = 2;
  EXPECT_EQ(types_of(step), Types{15});
  step.material = 3;
  EXPECT_EQ(types_of(step), Types{16});
}

TEST(Collector, RefusesNumbersThatCanNotBe) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const auto refused = [](auto change) {
    Step step = electron();
    change(step);
    Collector collector(kMaterials);
    EXPECT_THROW(collector.add(step), Error);
    EXPECT_TRUE(collector.gensteps().empty());
  };
  refused([&](Step& step) { step.position[1] = none; });
  refused([&](Step& step) { step.position[1] = 1e300; });
  refused([&](Step& step) { step.displacement[0] = none; });
  refused([&](Step& step) { step.time = none; });
  refused([&](Step& step) { step.charge = none; });
  refused([&](Step& step) { step.beta = 1.01; });
  refused([&](Step& step) { step.beta_at_end = none; });
  refused([&](Step& step) { step.length = -1; });
  refused([&](Step& step) { step.deposit = none; });
  refused([&](Step& step) { step.material = 4; });
}

TEST(Collector, NeverExceedsTheSpeedOfLight) {
  Step step = electron();
  step.beta = step.beta_at_end = 1;
  Collector collector;
  collector.add(step);
  EXPECT_EQ(collector.gensteps()[0].rest.cerenkov.beta_inverse, 1);
  step.beta = step.beta_at_end = 1 - 1e-12;
  collector.add(step);
  EXPECT_GE(collector.gensteps()[2].rest.cerenkov.beta_inverse, 1);
}

TEST(Collector, StartsEachEventAnew) {
  Collector collector;
  collector.begin(1);
  collector.add(electron());
  const double at[3]{1, 2, 3}, along[3]{0, 1, 0}, none[3]{};
  collector.add_photon(at, 4, along, 430, none);
  const Request gensteps = collector.gensteps_request(9);
  EXPECT_EQ(gensteps.event, 1U);
  EXPECT_EQ(gensteps.seed, 9U);
  EXPECT_EQ(gensteps.bytes.size(), 2 * 96U);
  const Request photons = collector.photons_request(10);
  EXPECT_EQ(photons.body, protocol::Header::Body::photons);
  float words[16];
  ASSERT_EQ(photons.bytes.size(), sizeof words);
  std::memcpy(words, photons.bytes.data(), sizeof words);
  const float expected[16]{1, 2, 3, 4, 0, 1, 0, 0, 0, 0, 0, 430, 0, 0, 0, 0};
  for (int i = 0; i != 16; ++i) EXPECT_EQ(words[i], expected[i]) << i;
  EXPECT_TRUE(collector.gensteps().empty() && collector.photons().empty());
  collector.add(electron());
  collector.begin(2);
  EXPECT_TRUE(collector.gensteps().empty());
}

TEST(Collector, FindsTheTrackOfAPhoton) {
  Collector collector;
  Step step = electron();
  step.cerenkov_photons = 3;
  step.scintillation_photons = 2;
  collector.add(step);
  step.track = 18;
  step.scintillation_photons = 0;
  collector.add(step);
  const Tracks tracks(collector.gensteps());
  for (const std::uint64_t photon : {0, 4}) EXPECT_EQ(tracks.of(photon), 17U);
  for (const std::uint64_t photon : {5, 7}) EXPECT_EQ(tracks.of(photon), 18U);
  EXPECT_THROW((void)tracks.of(8), Error);
  collector.add(electron());
  EXPECT_THROW(Tracks(collector.gensteps()), Error) << "the server draws its number";
}

TEST(Collector, GivesEventsAndRunsDifferentSeeds) {
  std::set<std::uint64_t> seeds;
  for (std::uint64_t run = 0; run != 100; ++run)
    for (std::uint64_t event = 0; event != 1000; ++event) seeds.insert(event_seed(run, event));
  EXPECT_EQ(seeds.size(), 100'000U);
}

}  // namespace
}  // namespace raylift::client
