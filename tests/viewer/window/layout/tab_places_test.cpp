// SPDX-License-Identifier: Apache-2.0
#include "window/layout/tab_places.h"

#include <gtest/gtest.h>

namespace raylift::viewer {
namespace {

std::vector<TabWish> wishes(bool icons, float scale) {
  std::vector<TabWish> tabs;
  for (const float word : {50.0F, 62.0F, 42.0F, 78.0F, 54.0F, 78.0F})
    tabs.push_back({word * scale, icons ? 24 * scale : 0});
  return tabs;
}

// From the dock of a window of 500 x 400 at scale 2 to the widest.
constexpr float kRooms[] = {125, 160, 200, 240, 320, 380, 600};

TEST(TabPlaces, ShowAllTabsInAnyRoom) {
  for (const bool icons : {false, true})
    for (const float scale : {1.0F, 1.5F, 2.0F})
      for (const float units : kRooms)
        for (std::size_t chosen = 0; chosen != 6; ++chosen) {
          const std::vector<TabWish> tabs = wishes(icons, scale);
          const std::vector<TabPlace> places = place_tabs(tabs, chosen, units * scale, 2 * scale);
          SCOPED_TRACE(testing::Message() << units << " at " << scale << (icons ? ", icons" : ", words"));
          ASSERT_EQ(places.size(), tabs.size());
          for (std::size_t i = 0; i != places.size(); ++i) {
            EXPECT_GE(places[i].left, 0);
            EXPECT_LE(places[i].left + places[i].width, units * scale);
            EXPECT_GE(places[i].width, places[i].word ? tabs[i].word : tabs[i].icon) << "it is not cut";
            if (i == 0 || places[i].row != places[i - 1].row) continue;
            EXPECT_GE(places[i].left, places[i - 1].left + places[i - 1].width);
          }
          EXPECT_LE(places.back().row, icons ? (units < 154 ? 1 : 0) : 3);
        }
}

TEST(TabPlaces, HaveWordsWhereThereIsRoom) {
  for (const TabPlace& one : place_tabs(wishes(true, 1), 0, 380, 2)) EXPECT_TRUE(one.word);
  const auto narrow = place_tabs(wishes(true, 1), 3, 240, 2);
  for (std::size_t i = 0; i != narrow.size(); ++i) EXPECT_EQ(narrow[i].word, i == 3) << i;
  for (const TabPlace& one : place_tabs(wishes(true, 1), 3, 160, 2)) EXPECT_FALSE(one.word);
}

}  // namespace
}  // namespace raylift::viewer
