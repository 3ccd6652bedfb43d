// SPDX-License-Identifier: Apache-2.0
// The panels have the letters of names, and no more.
#ifdef RAYLIFT_WITH_WINDOW
#include <gtest/gtest.h>
#include <imgui.h>

#include <set>

#include "window/gui.h"

namespace raylift::viewer {
namespace {

TEST(Fonts, HaveTheLettersThatAreWanted) {
  constexpr ImWchar kOmega = 0x3A9, kWater = 0x6C34, kFire = 0x706B;
  ImGui::CreateContext();
  ImFontAtlas& fonts = *ImGui::GetIO().Fonts;
  ImVector<ImWchar> ranges;
  EXPECT_TRUE(add_fonts(fonts, 14, {}, ranges)) << "Latin letters are there anyhow";
  const bool all = add_fonts(fonts, 14, {kOmega, kWater}, ranges);
  const ImFont* font = fonts.Fonts[0];
  EXPECT_NE(font->FindGlyphNoFallback('A'), nullptr);
  if (all) {
    EXPECT_NE(font->FindGlyphNoFallback(kOmega), nullptr);
    EXPECT_NE(font->FindGlyphNoFallback(kWater), nullptr);
    EXPECT_EQ(font->FindGlyphNoFallback(kFire), nullptr);
  }
  ImGui::DestroyContext();
  if (!all) GTEST_SKIP() << "fonts-droid-fallback is not installed";
}

}  // namespace
}  // namespace raylift::viewer
#endif
