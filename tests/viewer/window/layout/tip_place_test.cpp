// SPDX-License-Identifier: Apache-2.0
#include "window/layout/tip_place.h"

#include <gtest/gtest.h>

namespace raylift::viewer {
namespace {

constexpr float kGap = 8;

Rectangle place(const Rectangle& item, const Rectangle& panel, float wide, float high, float w, float h) {
  return tip_place({item, panel, wide, high, w, h, kGap});
}

TEST(TipPlace, IsInTheWindowAndBesideTheControl) {
  for (const float w : {500.0F, 900.0F, 1920.0F})
    for (const float h : {400.0F, 1080.0F})
      for (const float left : {0.0F, 48.0F, 200.0F, w - 290})
        for (const float width : {180.0F, 280.0F})
          for (const float high : {20.0F, 90.0F})
            for (float top = 0; top + 24 <= h; top += 31) {
              const Rectangle panel{left, 0, left + width, h}, item{left + 10, top, left + width - 10, top + 24};
              const float wide = 340;
              const Rectangle tip = place(item, panel, wide, high, w, h);
              EXPECT_FALSE(intersect(tip, item)) << w << ' ' << h << ' ' << left << ' ' << top;
              EXPECT_GE(tip.left, 0);
              EXPECT_GE(tip.top, 0);
              EXPECT_LE(tip.right, w);
              EXPECT_LE(tip.bottom, h);
              EXPECT_EQ(tip.width(), wide);
            }
}

TEST(TipPlace, LiesBesideThePanelWhereThereIsRoom) {
  const Rectangle left{48, 0, 388, 700}, right{1000, 0, 1272, 700};
  EXPECT_EQ(place({60, 100, 300, 124}, left, 200, 40, 1280, 800).left, 388 + kGap);
  EXPECT_EQ(place({60, 100, 300, 124}, left, 200, 40, 1280, 800).top, 100);
  EXPECT_EQ(place({1010, 100, 1200, 124}, right, 200, 40, 1280, 800).right, 1000 - kGap);
  EXPECT_EQ(place({60, 780, 300, 800}, left, 200, 40, 1280, 800).bottom, 800);
  // In the middle, and too wide for either side: below, or above where the window ends.
  const Rectangle wide{100, 0, 700, 700};
  EXPECT_EQ(place({120, 100, 300, 124}, wide, 340, 40, 800, 700).top, 124 + kGap);
  EXPECT_EQ(place({120, 660, 300, 684}, wide, 340, 40, 800, 700).bottom, 660 - kGap);
}

}  // namespace
}  // namespace raylift::viewer
