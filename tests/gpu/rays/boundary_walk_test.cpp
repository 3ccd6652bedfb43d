// SPDX-License-Identifier: Apache-2.0
// Photons walk through solids that touch in all ways, and stay in the medium that an oracle in double says.
#include <gtest/gtest.h>

#include <raylift/gpu/memory/buffer.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "media/media_scenes.h"
#include "media/media_walk.h"
#include "support/devices.h"
#include "support/effort.h"

namespace raylift {
namespace {

using bench::MediaOnDevice;
using bench::MediaScene;
using bench::WalkCounts;
using bench::WalkTask;

constexpr std::uint32_t kStepsOfSeries = 4096;  // as in bench_media, so that series have the same numbers

WalkCounts walk(const Device& device, const WalkTask& task, double steps, std::uint64_t first = 0) {
  const Stream stream(device);
  DeviceBuffer<WalkCounts> counts(device, 1);
  WalkCounts sum{};
  counts.copy_from(std::span<const WalkCounts>(&sum, 1), stream);
  bench::walk_photons(device, task, first, static_cast<std::size_t>(std::ceil(steps / kStepsOfSeries)), kStepsOfSeries,
                      counts.device(), stream);
  counts.copy_to(std::span(&sum, 1), stream);
  stream.synchronize();
  return sum;
}

void expect_right_media(const Device& device, const MediaScene& scene, double steps, std::uint32_t check_every) {
  for (const bench::MediaLevels levels : bench::kMediaLevels) {
    SCOPED_TRACE(scene.name + ", " + bench::name_of(levels));
    const MediaOnDevice uploaded(scene, device, levels);
    WalkTask task = uploaded.task();
    task.check_every = check_every;
    const WalkCounts counts = walk(device, task, steps);
    EXPECT_EQ(counts.wrong, 0U);
    EXPECT_EQ(counts.inconsistent, 0U);
    EXPECT_EQ(counts.mismatched, 0U);
    EXPECT_EQ(counts.lost, 0U);
    EXPECT_EQ(counts.stuck, 0U);
    EXPECT_EQ(counts.first_bad, 0U) << "bench_media --scenes '" << scene.name << "' --series " << counts.first_bad - 1;
    // What is left out near surfaces must not be most of it, and photons must get somewhere.
    EXPECT_GT(static_cast<double>(counts.checked), 0.6 * steps / check_every);
    EXPECT_GT(static_cast<double>(counts.boundaries), 0.05 * steps);
  }
}

/// `steps` in each kind of scene.
void expect_right_media_in_all(const Device& device, double steps) {
  for (const MediaScene& scene : bench::media_scenes())
    if (scene.consistent) expect_right_media(device, scene, steps / scene.alike, 1);
}

class BoundaryWalk : public test::OnDevice {};
RAYLIFT_ON_BOTH_DEVICES(BoundaryWalk);

TEST_P(BoundaryWalk, KeepsTheMediumWhereSolidsTouch) {
  expect_right_media_in_all(device(), kSanitized ? 20'000 : 200'000);
}

TEST_P(BoundaryWalk, KeepsTheMediumInADetector) {
  expect_right_media(device(), bench::detector_scene(300), test::effort(100'000), 20);
}

TEST_P(BoundaryWalk, EndsWhereSolidsOverlap) {
  const MediaScene scene = bench::media_scenes().back();
  ASSERT_FALSE(scene.consistent);
  for (const bench::MediaLevels levels : bench::kMediaLevels) {
    const MediaOnDevice uploaded(scene, device(), levels);
    WalkTask task = uploaded.task();
    task.check_every = 0;
    const WalkCounts counts = walk(device(), task, 1e5);
    EXPECT_GT(counts.inconsistent, 1000U);
    EXPECT_GT(counts.ended, 500U);
    EXPECT_EQ(counts.stuck, 0U);
  }
}

/// Photons found by bench_media: faces that coincide and lie just within a tolerance and just beyond it, flights along
/// a face within rounding of it, and scattering within rounding of an edge.
TEST_P(BoundaryWalk, KeepsToRareSeries) {
  const std::map<std::string, std::vector<std::uint64_t>> rare{
      {"foils at 1 m, turned", {4231, 12076, 34516, 42899, 214946}},
      {"block", {18489}},
      {"block, turned", {13228}},
      {"flush, turned", {33224}},
      {"spheres at 5 m", {78332}},
  };
  for (const MediaScene& scene : bench::media_scenes()) {
    const auto numbers = rare.find(scene.name);
    if (numbers == rare.end()) continue;
    for (const bench::MediaLevels levels : bench::kMediaLevels) {
      const MediaOnDevice uploaded(scene, device(), levels);
      for (const std::uint64_t number : numbers->second) {
        SCOPED_TRACE(scene.name + ", " + bench::name_of(levels) + ", " + std::to_string(number));
        const WalkCounts counts = walk(device(), uploaded.task(), kStepsOfSeries, number);
        EXPECT_EQ(counts.wrong + counts.inconsistent + counts.mismatched + counts.lost + counts.stuck, 0U);
      }
    }
  }
}

/// On a GPU bench_media takes 1e9 steps in each scene, these series among them.
TEST(SlowBoundaryWalk, KeepsTheMediumWhereSolidsTouch) {
  expect_right_media_in_all(Device::host(), 5e5);
}

TEST(SlowBoundaryWalk, KeepsTheMediumInADetector) {
  expect_right_media(Device::host(), bench::detector_scene(300), 1.5e6, 50);
}

/// The walk notices if media are wrong: with closest_hit without the last triangle, which was the advice once.
TEST_P(BoundaryWalk, TellsWrongMedia) {
  for (const MediaScene& scene : bench::media_scenes()) {
    if (scene.name != "block" && scene.name != "flush daughters" && scene.name != "foils") continue;
    const MediaOnDevice uploaded(scene, device(), bench::MediaLevels::two);
    WalkTask task = uploaded.task();
    task.stepping = bench::Stepping::exclusion;
    const WalkCounts counts = walk(device(), task, 1e5);
    EXPECT_GT(counts.wrong, 1000U) << scene.name;
  }
}

}  // namespace
}  // namespace raylift
