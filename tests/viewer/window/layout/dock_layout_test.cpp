// SPDX-License-Identifier: Apache-2.0
// Docks, panels and overlays over a table of windows, scales and open panels.
#include "window/layout/dock_layout.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace raylift::viewer {
namespace {

struct Size {
  float width, height;
};
constexpr Size kSizes[] = {{500, 400}, {640, 480}, {800, 600}, {1280, 800}, {1600, 1000}, {1920, 1080}, {3840, 2160}};
constexpr float kScales[] = {1, 1.5F, 2};
// Heights in units: a long tree, a solid with its optics, two points, image settings, a legend of materials.
constexpr float kHeights[kPanels] = {4000, 520, 160, 640, 260};

DockWish wish_of(const Size& size, float scale, unsigned open, std::size_t last_used) {
  DockWish wish;
  wish.width = size.width;
  wish.height = size.height;
  wish.unit = scale;
  wish.overlay_scale = std::max(0.75F, size.height / 720);
  for (std::size_t i = 0; i != kPanels; ++i)
    if ((open >> i & 1U) != 0) wish.panels[i] = {kHeights[i] * scale, i == last_used ? 9U : i};
  return wish;
}

std::vector<std::pair<std::string, Rectangle>> all_of(const DockLayout& layout) {
  std::vector<std::pair<std::string, Rectangle>> all{{"toolbar", layout.toolbar},
                                                     {"axes", layout.axes},
                                                     {"scale bar", layout.scale_bar},
                                                     {"message", layout.message},
                                                     {"progress", layout.progress}};
  for (std::size_t i = 0; i != kPanels; ++i) all.emplace_back("panel " + std::to_string(i), layout.panels[i].at);
  return all;
}

template <class Work>
void for_all(const Work& work) {
  for (const Size& size : kSizes)
    for (const float scale : kScales)
      for (unsigned open = 0; open != 1U << kPanels; ++open)
        for (std::size_t last = 0; last != kPanels; ++last) {
          if ((open >> last & 1U) == 0 && open != 0) continue;
          SCOPED_TRACE(testing::Message() << size.width << " x " << size.height << " at " << scale << ", open " << open
                                          << ", last " << last);
          const DockWish wish = wish_of(size, scale, open, last);
          work(wish, dock_layout(wish), last);
        }
}

TEST(DockLayout, CoversNothingTwice) {
  for_all([](const DockWish& wish, const DockLayout& layout, std::size_t) {
    const auto all = all_of(layout);
    for (std::size_t i = 0; i != all.size(); ++i) {
      for (std::size_t j = 0; j != i; ++j)
        EXPECT_FALSE(intersect(all[i].second, all[j].second)) << all[i].first << " and " << all[j].first;
      if (all[i].second.empty()) continue;
      EXPECT_GE(all[i].second.left, 0) << all[i].first;
      EXPECT_GE(all[i].second.top, 0) << all[i].first;
      EXPECT_LE(all[i].second.right, wish.width + 0.5F) << all[i].first;
      EXPECT_LE(all[i].second.bottom, wish.height + 0.5F) << all[i].first;
    }
    for (const DockLayout::PanelBox& panel : layout.panels) EXPECT_FALSE(intersect(panel.at, layout.free));
    EXPECT_FALSE(intersect(layout.toolbar, layout.free));
  });
}

TEST(DockLayout, LeavesTheMiddleFree) {
  for_all([](const DockWish& wish, const DockLayout& layout, std::size_t) {
    if (wish.width < 480 * wish.unit) return;
    EXPECT_GE(layout.free.width(), 0.4F * wish.width - 0.5F);
    EXPECT_LE(layout.free.left, 0.5F * wish.width + 0.5F);
    EXPECT_GE(layout.free.right, 0.5F * wish.width - 0.5F);
  });
}

TEST(DockLayout, ShowsThePanelThatWasUsedLast) {
  for_all([](const DockWish& wish, const DockLayout& layout, std::size_t last) {
    if (wish.panels[last].height <= 0) return;
    const DockLayout::PanelBox& panel = layout.panels[last];
    ASSERT_FALSE(panel.at.empty());
    EXPECT_FALSE(panel.folded);
    EXPECT_GE(panel.at.width(), 145 * wish.unit);
    EXPECT_GE(panel.at.height(), 80 * wish.unit);
  });
}

TEST(DockLayout, GivesPanelsTheirOwnSizeWhereThereIsRoom) {
  const DockWish wish = wish_of({1920, 1600}, 1, 0b11110, 1);
  const DockLayout layout = dock_layout(wish);
  for (std::size_t i = 1; i != kPanels; ++i) {
    EXPECT_FLOAT_EQ(layout.panels[i].at.height(), kHeights[i]) << i;
    EXPECT_FLOAT_EQ(layout.panels[i].at.width(), i < 3 ? kLeftWidth : kRightWidth) << i;
  }
  EXPECT_TRUE(layout.of(Panel::scene).at.empty()) << "it is closed";
}

TEST(DockLayout, GivesALongTreeWhatTheOthersLeave) {
  const DockLayout layout = dock_layout(wish_of({1280, 800}, 1, 0b00101, 0));
  EXPECT_FLOAT_EQ(layout.of(Panel::measurement).at.height(), 160);
  EXPECT_FLOAT_EQ(layout.of(Panel::measurement).at.bottom, 800 - kGap);
  EXPECT_FLOAT_EQ(layout.of(Panel::scene).at.height(), 800 - 160 - 3 * kGap);
}

TEST(DockLayout, FoldsWhatWasUsedTheLongestAgoInALowWindow) {
  const DockLayout layout = dock_layout(wish_of({1280, 300}, 1, 0b00111, 1));
  EXPECT_TRUE(layout.of(Panel::scene).folded);
  EXPECT_FALSE(layout.of(Panel::selection).folded);
  EXPECT_FALSE(layout.of(Panel::scene).at.empty()) << "its title is there";
}

TEST(DockLayout, LeavesTheWholeWindowWithoutPanels) {
  DockWish wish = wish_of({500, 400}, 2, 0, 0);
  wish.toolbar = false;
  const DockLayout layout = dock_layout(wish);
  EXPECT_EQ(layout.free.width(), 500);
  EXPECT_EQ(layout.free.height(), 400);
  EXPECT_FALSE(layout.axes.empty());
  EXPECT_FALSE(layout.scale_bar.empty());
}

}  // namespace
}  // namespace raylift::viewer
