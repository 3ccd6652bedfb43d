// SPDX-License-Identifier: Apache-2.0
// Legends in images, and the letters that they are written with.
#include "draw/overlay/legends.h"

#include <gtest/gtest.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/optics/surface_between.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "draw/overlay/font.h"
#include "draw/overlay/overlay_builder.h"
#include "draw/overlay/overlay_triangles.h"
#include "model/solids/reveal.h"
#include "support/paths.h"
#include "support/tank_scene.h"

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

/// The plates of this colour, as entries have them.
std::size_t count_of(const Overlay& overlay, const std::array<float, 4>& paint) {
  return static_cast<std::size_t>(std::count_if(overlay.begin(), overlay.end(), [&](const OverlayItem& item) {
    return item.kind == OverlayItem::Kind::rectangle && item.paint == paint;
  }));
}
constexpr std::array<float, 4> kRed{1, 0, 0, 1};

TEST(LegendOverlay, StaysInTheImageAndAboveTheScaleBar) {
  for (const auto& [width, height] : {std::pair(1280, 720), {640, 480}, {320, 240}, {3840, 2160}, {200, 2000}})
    for (const std::size_t entries : {1U, 24U, 500U})
      for (const OverlayItem& item : drawn({materials(entries, std::string(80, 'W')), depths()}, width, height)) {
        const Eigen::AlignedBox2f box = item.box();
        EXPECT_GE(box.min().x(), 0) << width << ' ' << height;
        EXPECT_LE(box.max().x(), width) << width << ' ' << height << ' ' << item.words;
        EXPECT_GE(box.min().y(), 40 * overlay_scale(height)) << width << ' ' << height << ' ' << entries;
        EXPECT_LE(box.max().y(), height);
      }
}

TEST(LegendOverlay, HasAColourForEachEntryAsFarAsThereIsRoom) {
  EXPECT_EQ(count_of(drawn({materials(3)}, 1280, 720), kRed), 3U);
  EXPECT_EQ(count_of(drawn({materials(100)}, 1280, 720), kRed), most_legend_entries(720));
  EXPECT_LT(most_legend_entries(300), most_legend_entries(720));
  EXPECT_GT(drawn({depths()}, 1280, 720).size(), 33U);
  EXPECT_TRUE(drawn({materials(3)}, 100, 100).empty()) << "a thumbnail has none";
  EXPECT_TRUE(drawn({}, 1280, 720).empty());
}

TEST(SurfaceLegend, NamesEachSurfaceAndSaysWhichAreNotSeen) {
  const Scene scene = load(test::data("detector.dae"));
  const Solids solids(scene);
  Settings settings;
  settings.color = ColorBy::surface;
  const auto texts = [&] {
    std::set<std::string> all;
    for (const Legend::Entry& entry :
         make_legend(solids, settings, looks(solids, settings), std::nullopt, 24).entries) {
      all.insert(entry.text());
      EXPECT_EQ(entry.where.empty(), entry.hint.empty());
    }
    return all;
  };
  std::set<std::string> seen = texts();
  EXPECT_TRUE(seen.contains("CathodeSurface (300), covered")) << "by the glass of the sensors";
  EXPECT_TRUE(seen.contains("ReflectorSurface, on inner sides")) << "a border out of the buffer";
  settings.clip = parse_clip("x");
  seen = texts();
  EXPECT_FALSE(seen.contains("CathodeSurface (300), covered")) << "the plane cuts some of the sensors";
  EXPECT_TRUE(std::any_of(seen.begin(), seen.end(), [](const std::string& one) {
    return one.starts_with("CathodeSurface (300), 2") && one.ends_with(" covered");
  })) << "and not the others";
  EXPECT_TRUE(seen.contains("ReflectorSurface, on inner sides"));
  settings.clip = parse_clip("x=100000");
  EXPECT_TRUE(texts().contains("CathodeSurface (300), covered")) << "beside the scene";
  settings.clip.reset();
  settings.opacity = 0.5F;
  EXPECT_TRUE(texts().contains("CathodeSurface (300)")) << "all is seen through";
}

TEST(SurfaceLegend, NamesABorderBetweenNeighbours) {
  Scene scene = test::tank_scene();
  test::add_foil_between_sensors(scene);
  Settings settings;
  settings.color = ColorBy::surface;
  const Legend legend = make_legend(Solids(scene), settings, {}, std::nullopt, 24);
  ASSERT_EQ(legend.entries.size(), 2U);
  EXPECT_EQ(legend.entries[1].text(), "Foil, between neighbours");
  EXPECT_NE(legend.entries[1].hint.find("touches"), std::string::npos);
}

TEST(OverlayText, HasALetterOfItsOwnForEachOfLatin) {
  const auto letter = [](std::uint32_t code) { return make_glyph(code, 24, 0).alpha; };
  const auto missing = letter(0xE000);
  ASSERT_FALSE(missing.empty()) << "a box";
  EXPECT_TRUE(letter(' ').empty());
  std::set<std::vector<std::uint8_t>> all;
  std::size_t count = 0;
  for (std::uint32_t code = '!'; code != 0x17F; ++code) {
    if ((code > '~' && code <= 0xA0) || code == 0xAD) continue;
    EXPECT_NE(letter(code), missing) << code;
    all.insert(letter(code));
    ++count;
  }
  EXPECT_GE(all.size(), count - 2) << "but for letters that look the same";
  EXPECT_FLOAT_EQ(text_width("\u00B5", 12), advance_of(0xB5) * 12 / kCapital) << "one letter of two bytes";
  EXPECT_NEAR(make_glyph('H', 30, 0).height, 30, 1) << "a capital's height is given";
}

TEST(OverlayText, IsAnImageOfEachLetterOnce) {
  GlyphImage letters;
  Overlay overlay;
  OverlayBuilder(overlay).text({10, 20}, "aab", 12, {1, 1, 1, 1});
  const std::vector<OverlayVertex> triangles = overlay_triangles(overlay, letters);
  EXPECT_EQ(triangles.size(), 3U * 6);
  const std::uint64_t version = letters.version();
  EXPECT_GT(version, 0U);
  EXPECT_EQ(overlay_triangles(overlay, letters).size(), triangles.size());
  EXPECT_EQ(letters.version(), version) << "no letter comes anew";
  for (const OverlayVertex& v : triangles) {
    EXPECT_EQ(v.letter, 1);
    EXPECT_GE(v.position[0], 9);
    EXPECT_LE(v.position[0], 10 + text_width("aab", 12) + 1);
  }
  // More letters than the image has room for.
  for (int size = 40; size != 400; ++size) {
    overlay.front().size = static_cast<float>(size);
    EXPECT_EQ(overlay_triangles(overlay, letters).size(), 3U * 6) << size;
  }
}

}  // namespace
}  // namespace raylift::viewer
