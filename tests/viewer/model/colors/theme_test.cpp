// SPDX-License-Identifier: Apache-2.0
// The contrasts that docs/viewer_design.md states.
#include "model/colors/theme.h"

#include <gtest/gtest.h>

namespace raylift::viewer {
namespace {

constexpr double kText = 4.5, kMark = 3;  // WCAG 2.1, 1.4.3 and 1.4.11

TEST(Theme, MeasuresContrastAsWcagDoes) {
  EXPECT_NEAR(contrast_ratio({0, 0, 0}, {1, 1, 1}), 21, 1e-6);
  EXPECT_NEAR(contrast_ratio({1, 0, 0}, {1, 1, 1}), 3.998, 1e-3);
  EXPECT_NEAR(contrast_ratio({1, 1, 1}, {1, 0, 0}), 3.998, 1e-3);
  EXPECT_EQ(contrast_ratio({0.2F, 0.4F, 0.6F}, {0.2F, 0.4F, 0.6F}), 1);
}

TEST(Theme, HasTextAndMarksThatAreRead) {
  for (const bool light : {false, true}) {
    const Theme& t = theme(light);
    for (const Color& ground : {t.ground, t.raised, t.field}) {
      for (const Color& words : {t.text, t.dim, t.warning, t.error, t.good})
        EXPECT_GE(contrast_ratio(words, ground), kText) << light;
      for (const Color& mark : {t.accent, t.border}) EXPECT_GE(contrast_ratio(mark, ground), kMark) << light;
    }
    EXPECT_GE(contrast_ratio(t.text, t.chosen), kText) << light;
    EXPECT_GE(contrast_ratio(t.accent, t.ground), kText) << "headings" << light;
    EXPECT_GE(contrast_ratio(t.accent, t.chosen), kMark) << light;
  }
}

}  // namespace
}  // namespace raylift::viewer
