// SPDX-License-Identifier: Apache-2.0
// How much light is drawn so that an image is read.
#include "light/readable_light.h"

#include <gtest/gtest.h>
#include <raylift/geometry/import/load.h>

#include <set>
#include <vector>

#include "photon_rows.h"
#include "support/paths.h"

namespace raylift::viewer {
namespace {

using namespace test_photons;

class ReadableLightTest : public testing::Test {
 protected:
  /// Paths across 2 m, one above the other, of 10 ns.
  static PhotonSet lines(std::uint32_t count) {
    std::vector<std::vector<PhotonRow>> paths;
    std::vector<PhotonRow> ends;
    for (std::uint32_t i = 0; i != count; ++i) {
      const float z = -1000 + 2000.0F * static_cast<float>(i) / static_cast<float>(count);
      paths.push_back(
          {event(flags::kTorch, {-1000, 0, z}, 0, i, 420), event(flags::kBulkAbsorb, {1000, 0, z}, 10, i, 420)});
      ends.push_back(paths.back().back());
    }
    return set_of(paths, ends);
  }
  LightShown shown(std::uint32_t count) {
    const PhotonSet set = lines(count);
    return ReadableLight(set, choose_photons(set, scene_, {})).shown(settings_, camera_, kSize);
  }
  void SetUp() override {
    camera_.orthographic = true;
    camera_.look(StandardView::front);
    camera_.frame(scene_.bounds, 1);
  }

  static constexpr Resolution kSize{400, 400};
  const Scene scene_ = load(test::data("cube.dae"));  // 2 m
  Camera camera_;
  PhotonSettings settings_;
};

TEST_F(ReadableLightTest, IsAllOfIt) {
  EXPECT_EQ(shown(20).paths, 20U) << "where there is room";
  settings_.density = 0;
  EXPECT_EQ(shown(5000), (LightShown{5000, 5000, 5000})) << "where it is asked for";
  settings_ = PhotonSettings();
  settings_.paths = false;
  EXPECT_EQ(shown(20), (LightShown{0, 0, 20}));
}

TEST_F(ReadableLightTest, CoversAShareOfTheImage) {
  const LightShown some = shown(5000);
  // 0.25 of 400 x 400 pixels, at less than 400 for each line: 100 to 150 lines.
  EXPECT_GE(some.paths, 100U);
  EXPECT_LE(some.paths, 150U);
  EXPECT_EQ(some.steps, some.paths) << "one step each";
  settings_.density = 0.5F;
  EXPECT_GE(shown(5000).paths, 200U);
  settings_.density = 0.25F;
  settings_.size = 4;
  EXPECT_LE(shown(5000).paths, 40U) << "wide lines";
  settings_.size = 1;
  settings_.time = 5;
  settings_.trail = 1;
  EXPECT_GE(shown(5000).paths, 1000U) << "a tenth of each is drawn";
}

TEST_F(ReadableLightTest, IsMoreWhereTheImageShowsLittleOfIt) {
  const std::uint64_t whole = shown(5000).paths;
  camera_.zoom(1.0 / 8);
  EXPECT_GT(shown(5000).paths, whole) << "an eighth of the lines is in the image";
  camera_.zoom(64);
  EXPECT_GT(shown(5000).paths, whole) << "lines of an eighth of the length";
  camera_.frame(scene_.bounds, 1);
  camera_.target.y() += 1e6;
  camera_.orthographic = false;
  EXPECT_EQ(shown(5000).paths, 5000U) << "behind the eye";
}

TEST_F(ReadableLightTest, IsEvenlySpread) {
  const PhotonSet set = lines(1000);
  const PhotonChoice choice = choose_photons(set, scene_, {});
  ASSERT_EQ(choice.path_ends.size(), 1000U);
  EXPECT_EQ(choice.path_ends.back(), choice.steps.size());
  std::set<std::uint32_t> tenths;
  for (std::size_t i = 0; i != 20; ++i) tenths.insert(choice.steps[i].row / 200);
  EXPECT_EQ(tenths.size(), 10U);
  std::set<std::uint32_t> all;
  for (const DrawnRow& step : choice.steps) all.insert(step.row);
  EXPECT_EQ(all.size(), 1000U) << "each once";
}

TEST_F(ReadableLightTest, IsCountedInWords) {
  PhotonChoice choice;
  choice.paths = 2000;
  choice.points = std::vector<DrawnRow>(30000);
  EXPECT_EQ(shown_text({}, {300, 900, 30000}, choice), "300 of 2,000 paths");
  EXPECT_EQ(shown_text({}, {300, 900, 5000}, choice), "300 of 2,000 paths, 5,000 of 30,000 points");
  EXPECT_EQ(shown_text({}, {2000, 9000, 30000}, choice), "");
}

}  // namespace
}  // namespace raylift::viewer
