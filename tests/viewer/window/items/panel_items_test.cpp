// SPDX-License-Identifier: Apache-2.0
// Items of panels in ImGui frames without a window: what they draw, and where.
#ifdef RAYLIFT_WITH_WINDOW
#include "window/items/panel_items.h"

#include <gtest/gtest.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <functional>
#include <optional>
#include <string>

#include "viewer/window/with_imgui.h"

namespace raylift::viewer {
namespace {

class PanelItems : public testing::Test {
 protected:
  PanelItems() { imgui_.set_scale(1); }
  /// Draws a panel of this size with this content some times.
  void draw(ImVec2 size, const std::function<void()>& content, int frames = 3) {
    for (int i = 0; i != frames; ++i) {
      ImGui::NewFrame();
      ImGui::SetNextWindowPos({100, 100});
      ImGui::SetNextWindowSize(size);
      ImGui::Begin("panel", nullptr, ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoResize);
      content();
      ImGui::End();
      ImGui::Render();
    }
  }
  static const ImGuiWindow& panel() { return *ImGui::FindWindowByName("panel"); }
  /// From the left to the right of what the panel has in a colour.
  static std::pair<float, float> extent(ImU32 color) {
    std::pair<float, float> found{FLT_MAX, 0};
    for (const ImDrawVert& vertex : panel().DrawList->VtxBuffer)
      if (vertex.col == color) found = {std::min(found.first, vertex.pos.x), std::max(found.second, vertex.pos.x)};
    return found;
  }

  ImGuiContextHere imgui_{1280, 800};
};

TEST_F(PanelItems, TheNumberOfASliderStandsBesideIt) {
  for (const float scale : {1.0F, 1.5F, 2.0F})
    for (const float width : {160.0F, 200.0F, 280.0F, 340.0F})
      for (float value : {0.0F, 50.0F, 100.0F}) {
        SCOPED_TRACE(testing::Message() << value << " in " << width << " at " << scale);
        imgui_.set_scale(scale);
        float left = 0, right = 0, top = 0;  // of slider and number, where the label is not
        draw({width * scale, 200 * scale}, [&] {
          ImGui::PushStyleColor(ImGuiCol_FrameBg, {1, 0, 1, 1});  // the slider and its number
          slider(width < 200 ? "##value" : "Level of detail", value, 0, 100, "%.0f mm", "");
          ImGui::PopStyleColor();
          left = ImGui::GetItemRectMin().x;
          top = ImGui::GetItemRectMin().y;
          right = ImGui::GetItemRectMax().x;
          EXPECT_GE(right - left, 0.99F * std::min(100 * scale, (width - 20) * scale)) << "the number has room";
        });
        const auto handle = extent(ImGui::GetColorU32(ImGuiCol_SliderGrab));
        // Letters are the one thing of the text's colour that is below the title.
        float letters = FLT_MAX;
        for (const ImDrawVert& vertex : panel().DrawList->VtxBuffer)
          if (vertex.col == ImGui::GetColorU32(ImGuiCol_Text) && vertex.pos.y > top && vertex.pos.x > left)
            letters = std::min(letters, vertex.pos.x);
        ASSERT_LT(letters, FLT_MAX);
        ASSERT_GT(handle.second, handle.first);
        EXPECT_LT(handle.second, letters) << "the handle lies over the number";
        EXPECT_LE(right, panel().Pos.x + panel().Size.x);
      }
}

TEST_F(PanelItems, ASectionThatOpensScrollsIntoView) {
  std::array<bool, 3> open{true, false, false};
  SectionScroll scroll;
  float bottom = 0;
  const auto content = [&] {
    for (std::size_t i = 0; i != open.size(); ++i) {
      const float top = ImGui::GetCursorPosY();
      bool field = false;
      if (section(std::array{"First", "Second", "Third"}[i], open[i]))
        for (int k = 0; k != 5; ++k) (void)checkbox(("item " + std::to_string(k)).c_str(), field, "");
      if (i == 2) bottom = ImGui::GetCursorScreenPos().y;
      scroll.end(i, top, false);
    }
  };
  const auto low = [] { return panel().Pos.y + panel().Size.y; };
  draw({280, 240}, content);
  EXPECT_EQ(panel().Scroll.y, 0);
  open[2] = true;
  draw({280, 240}, content, 6);
  EXPECT_GT(panel().Scroll.y, 0);
  EXPECT_LE(bottom, low()) << "its last item is seen";
  const float before = panel().Scroll.y;
  open[1] = true;  // above: its heading and its items
  draw({280, 240}, content, 6);
  EXPECT_NE(panel().Scroll.y, before);
  EXPECT_GT(bottom, low()) << "the one below gives way";
}

TEST_F(PanelItems, LinesBreakAtSpacesAndBeforeNamesOfAPath) {
  const auto lines = [](const std::string& words, const char* widest) {
    return broken_lines(words, ImGui::CalcTextSize(widest).x);
  };
  draw({280, 200}, [&] {
    EXPECT_EQ(lines("/Scene/top/Pool_pv/Tank_pv", "/Scene/top/Po"), "/Scene/top\n/Pool_pv\n/Tank_pv");
    EXPECT_EQ(lines("in /Scene/top/Pool_pv", "/Scene/top/Po"), "in\n/Scene/top\n/Pool_pv");
    EXPECT_EQ(lines("3.25 and 4.5 ns/s", "3.25 and 4.5 n"), "3.25 and 4.5\nns/s");
    EXPECT_EQ(lines("one two\nthree", "one two three"), "one two\nthree");
    EXPECT_EQ(lines("longername", "long"), "longername") << "ImGui breaks it";
    EXPECT_EQ(lines("", "long"), "");
  });
}

TEST_F(PanelItems, ATipComesAfterAMomentAndNotOnItsControl) {
  ImVec2 low, high;
  std::optional<double> wait;
  const auto content = [&] {
    (void)button("Press", "What this button does");
    low = ImGui::GetItemRectMin();
    high = ImGui::GetItemRectMax();
    wait = seconds_to_tip();
  };
  const auto shown = []() -> const ImGuiWindow* {
    for (const ImGuiWindow* one : ImGui::GetCurrentContext()->Windows)
      if (one->Active && !one->Hidden && (one->Flags & ImGuiWindowFlags_Tooltip) != 0) return one;
    return nullptr;
  };
  draw({1000, 200}, content);
  EXPECT_FALSE(wait);
  ImGui::GetIO().MousePos = {low.x + 5, low.y + 5};
  draw({1000, 200}, content, 4);
  EXPECT_EQ(shown(), nullptr) << "the cursor may be on its way";
  ASSERT_TRUE(wait);
  EXPECT_LT(*wait, 1);
  draw({1000, 200}, content, static_cast<int>(*wait / ImGui::GetIO().DeltaTime) + 4);
  const ImGuiWindow* tip = shown();
  ASSERT_NE(tip, nullptr);
  EXPECT_FALSE(wait);
  EXPECT_TRUE(tip->Pos.y >= high.y || tip->Pos.x >= high.x) << "beside it";
  ImGui::GetIO().MousePos = {-100, -100};
  draw({1000, 200}, content, 2);
  ImGui::GetIO().MousePos = {low.x + 5, low.y + 5};
  draw({1000, 200}, content, 3);
  EXPECT_EQ(shown(), nullptr) << "it waits anew";
}

TEST_F(PanelItems, AMarkSaysThatMoreFollows) {
  float rows = 3;
  const auto marks = [&] {
    draw({280, 200}, [&] {
      ImGui::Dummy({100, rows * ImGui::GetFrameHeight()});
      hint_more();
    });
    return extent(ImGui::GetColorU32(ink(theme_now().accent))).second > 0;
  };
  EXPECT_FALSE(marks());
  rows = 30;
  EXPECT_TRUE(marks());
}

TEST_F(PanelItems, TabsAreInThePanel) {
  constexpr TabItem kItems[] = {{"a", "Solids", ""},     {"b", "Surfaces", ""}, {"c", "Light", ""},
                                {"d", "Properties", ""}, {"e", "Device", ""},   {"f", "Bookmarks", ""}};
  for (const float scale : {1.0F, 1.5F, 2.0F})
    for (const float width : {150.0F, 180.0F, 260.0F, 340.0F}) {
      imgui_.set_scale(scale);
      std::size_t chosen = 2;
      draw({width * scale, 200 * scale}, [&] { (void)tabs(kItems, chosen); });
      EXPECT_LE(panel().ContentSize.x, panel().InnerRect.GetWidth() - 2 * ImGui::GetStyle().WindowPadding.x + 1)
          << width << " at " << scale;
    }
}

}  // namespace
}  // namespace raylift::viewer
#endif
