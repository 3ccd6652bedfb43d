// SPDX-License-Identifier: Apache-2.0
// The panels have the letters of names, and no more.
#ifdef RAYLIFT_WITH_WINDOW
#include <gtest/gtest.h>
#include <imgui.h>

#include <filesystem>

#include "base/utf8.h"
#include "window/gui.h"
#include "window/items/icons.h"

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
  const bool has = font->FindGlyphNoFallback(kOmega) != nullptr && font->FindGlyphNoFallback(kWater) != nullptr;
  EXPECT_EQ(all, has);
  constexpr ImWchar kPrivate = 0xE000 + 0x7F0;  // no font has it
  EXPECT_FALSE(add_fonts(fonts, 14, {kOmega, kPrivate}, ranges)) << "so that the window can say it";
  (void)add_fonts(fonts, 14, {kOmega, kWater}, ranges);
  font = fonts.Fonts[0];
  if (all) {
    EXPECT_NE(font->FindGlyphNoFallback(kOmega), nullptr);
    EXPECT_NE(font->FindGlyphNoFallback(kWater), nullptr);
    EXPECT_EQ(font->FindGlyphNoFallback(kFire), nullptr);
  }
  ImGui::DestroyContext();
  if (!all) GTEST_SKIP() << "fonts-droid-fallback is not installed";
}

/// Without the icons' font the toolbar shows words.
TEST(Fonts, HaveTheIconsOfTheToolbar) {
  ImGui::CreateContext();
  ImVector<ImWchar> ranges;
  (void)add_fonts(*ImGui::GetIO().Fonts, 14, {}, ranges);
  const ImFont* font = ImGui::GetIO().Fonts->Fonts[0];
  const bool installed = std::filesystem::exists("/usr/share/fonts/truetype/font-awesome/fontawesome-webfont.ttf");
  for (const char* one : {icon::kOpen, icon::kView, icon::kClip, icon::kMeasure, icon::kLight, icon::kRayCast,
                          icon::kPicture, icon::kSolids, icon::kImage, icon::kLegend, icon::kCommands, icon::kHelp,
                          icon::kShown, icon::kHidden, icon::kMore}) {
    const auto code = static_cast<ImWchar>(base::decode_utf8(one).point);
    EXPECT_GE(code, icon::kFirst);
    EXPECT_LE(code, icon::kLast);
    EXPECT_EQ(font->FindGlyphNoFallback(code) != nullptr, installed) << code;
  }
  ImGui::DestroyContext();
}

}  // namespace
}  // namespace raylift::viewer
#endif
