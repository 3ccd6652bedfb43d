// SPDX-License-Identifier: Apache-2.0
// Legends in images, and the letters that they are written with.
#include "draw/legends.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "draw/overlay_builder.h"

namespace raylift::viewer {
namespace {

Legend materials(std::size_t count, const std::string& name = "Water") {
  Legend legend;
  legend.title = "materials";
  for (std::size_t i = 0; i != count; ++i) legend.entries.push_back({{1, 0, 0}, name, 2});
  return legend;
}

Legend depths() {
  Legend legend;
  legend.title = "depth";
  for (int i = 0; i != 33; ++i) legend.ramp.push_back({0, static_cast<float>(i) / 32, 0});
  legend.ticks = {{0, "1 m"}, {0.5F, "1.5 m"}, {1, "2 m"}};
  return legend;
}

Overlay drawn(const std::vector<Legend>& legends, int width, int height) {
  Overlay overlay;
  add_legends(legends, width, height, overlay);
  return overlay;
}

/// Whether a vertex has this colour, as entries have.
std::size_t count_of(const Overlay& overlay, const std::array<float, 4>& paint) {
  return static_cast<std::size_t>(
      std::count_if(overlay.begin(), overlay.end(), [&](const OverlayVertex& v) { return v.paint == paint; }));
}
constexpr std::array<float, 4> kRed{1, 0, 0, 1};

TEST(LegendOverlay, StaysInTheImageAndAboveTheScaleBar) {
  for (const auto& [width, height] : {std::pair(1280, 720), {640, 480}, {320, 240}, {3840, 2160}, {200, 2000}})
    for (const std::size_t entries : {1U, 24U, 500U})
      for (const OverlayVertex& v : drawn({materials(entries, std::string(80, 'W')), depths()}, width, height)) {
        EXPECT_GE(v.position[0], 0) << width << ' ' << height;
        EXPECT_LE(v.position[0], width);
        EXPECT_GE(v.position[1], 40 * overlay_scale(height)) << width << ' ' << height << ' ' << entries;
        EXPECT_LE(v.position[1], height);
      }
}

TEST(LegendOverlay, HasAColourForEachEntryAsFarAsThereIsRoom) {
  EXPECT_EQ(count_of(drawn({materials(3)}, 1280, 720), kRed), 3 * 6U);
  EXPECT_EQ(count_of(drawn({materials(100)}, 1280, 720), kRed), most_legend_entries(720) * 6);
  EXPECT_LT(most_legend_entries(300), most_legend_entries(720));
  EXPECT_GT(drawn({depths()}, 1280, 720).size(), 33 * 6U);
  EXPECT_TRUE(drawn({materials(3)}, 100, 100).empty()) << "a thumbnail has none";
  EXPECT_TRUE(drawn({}, 1280, 720).empty());
}

TEST(OverlayText, HasALetterOfItsOwnForEachOfAscii) {
  const auto strokes = [](const std::string& words) {
    Overlay overlay;
    OverlayBuilder(overlay).text({0, 0}, words, 12, {1, 1, 1, 1});
    std::vector<std::array<float, 2>> places;
    for (const OverlayVertex& v : overlay) places.push_back(v.position);
    return places;
  };
  const auto unknown = strokes("\xE6\xB0\xB4");
  ASSERT_FALSE(unknown.empty());
  EXPECT_EQ(strokes("@"), unknown);
  EXPECT_TRUE(strokes(" ").empty());
  for (char a = '!'; a <= '~'; ++a) {
    if (a == '@') continue;
    EXPECT_NE(strokes({a}), unknown) << a;
    for (char b = '!'; b < a; ++b) EXPECT_NE(strokes({a}), strokes({b})) << a << b;
  }
  EXPECT_NE(strokes("\u00B5"), unknown);
  EXPECT_NE(strokes("\u00B0"), unknown);
  EXPECT_EQ(strokes("\u00E9"), unknown);
  EXPECT_FLOAT_EQ(OverlayBuilder::text_width("\xE6\xB0\xB4", 12), OverlayBuilder::text_width("a", 12))
      << "one letter, though it has three bytes";
}

}  // namespace
}  // namespace raylift::viewer
