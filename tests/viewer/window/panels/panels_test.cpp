// SPDX-License-Identifier: Apache-2.0
// The panels in windows of several sizes and scales, in an ImGui frame without a window.
#ifdef RAYLIFT_WITH_WINDOW
#include "window/panels/panels.h"

#include <gtest/gtest.h>
#include <imgui.h>
#include <imgui_internal.h>
#include <raylift/geometry/import/load.h>

#include <cmath>
#include <functional>
#include <string_view>
#include <vector>

#include "support/paths.h"
#include "viewer/window/with_imgui.h"
#include "viewer/with_context.h"
#include "window/items/panel_items.h"

namespace raylift::viewer {
namespace {

class PanelsWithoutWindow : public WithContext {
 protected:
  /// What the panels leave free of a window once they have their sizes.
  std::pair<Eigen::Vector2d, Eigen::Vector2d> free_part(
      float width, float height, float scale, bool light = false,
      const std::function<void(ViewerState&, WindowLayout&)>& arrange = [](ViewerState&, WindowLayout&) {}) {
    ImGuiIO& io = ImGui::GetIO();
    io.Fonts->Clear();
    ImFontConfig config;
    config.SizePixels = std::round(kFontSize * scale);
    io.Fonts->AddFontDefault(&config);
    ImGuiContextHere::make_texture();
    set_style(scale, light);
    io.DisplaySize = {width, height};
    ViewOptions options;
    options.files = {"detector.dae"};
    ViewerState state(options, {static_cast<int>(width), static_cast<int>(height)});
    state.show(std::make_shared<const Scene>(load(test::data("detector.dae"))));
    SceneLoader loader;
    FrameScheduler frames;
    WindowLayout layout;
    layout.help = true;
    arrange(state, layout);
    Panels panels(state, loader, frames, layout);
    for (int i = 0; i < 5; ++i) {
      ImGui::NewFrame();
      panels.draw(width, height);
      button_height_ = ImGui::GetFrameHeight();
      text_ = ImGui::GetStyleColorVec4(ImGuiCol_Text).x;
      ground_ = ImGui::GetStyleColorVec4(ImGuiCol_WindowBg).x;
      border_ = ImGui::GetStyleColorVec4(ImGuiCol_Border).x;
      ImGui::Render();
    }
    places_ = panels.places();
    return panels.free_part(width, height);
  }
  /// What a click on each place in the row of buttons of the selection's panel put onto the clipboard first.
  std::string copied_by_the_mouse(ViewerState& state, float width, float height) {
    ImGuiIO& io = ImGui::GetIO();
    ImGuiContextHere::make_texture();
    set_style(1, false);
    io.DisplaySize = {width, height};
    SceneLoader loader;
    FrameScheduler frames;
    WindowLayout layout;
    Panels panels(state, loader, frames, layout);
    float row = 0;
    const auto frame = [&](float x, bool down) {
      const ImGuiWindow* panel = ImGui::FindWindowByName("Selection###selection");
      io.MousePos = {x, panel == nullptr ? 0 : panel->Pos.y + row};
      io.MouseDown[0] = down;
      ImGui::NewFrame();
      panels.draw(width, height);
      ImGui::Render();
    };
    for (int i = 0; i != 5; ++i) frame(-100, false);
    const ImGuiWindow* selected = ImGui::FindWindowByName("Selection###selection");
    const float left = selected == nullptr ? 0 : selected->Pos.x;
    std::string copied;
    const int rows_of_buttons = 2;
    for (int i = 0; i != rows_of_buttons && copied.empty(); ++i) {
      row = ImGui::GetStyle().WindowPadding.y + 1.5F * ImGui::GetFrameHeight() +
            static_cast<float>(i) * ImGui::GetFrameHeightWithSpacing();
      for (float x = left; x < left + kLeftWidth && state.selection() && copied.empty(); x += 6) {
        for (const bool down : {false, true, false}) frame(x, down);
        if (const char* text = ImGui::GetClipboardText(); text != nullptr) copied = text;
      }
    }
    return copied;
  }
  ImGuiContextHere imgui_{1, 1};
  float button_height_ = 0, text_ = 0, ground_ = 0, border_ = 0;
  DockLayout places_;
};

TEST_F(PanelsWithoutWindow, ScaleAsAWhole) {
  const auto [low, high] = free_part(1280, 800, 1);
  EXPECT_NEAR(low.x() * 1280, kToolbarWidth + kLeftWidth + 2 * kGap, 1);
  EXPECT_NEAR((1 - high.x()) * 1280, kRightWidth + 2 * kGap, 1);
  EXPECT_GE(button_height_, 24);
  const auto [low2, high2] = free_part(2560, 1600, 2);
  EXPECT_NEAR(low2.x(), low.x(), 0.001);
  EXPECT_NEAR(high2.x(), high.x(), 0.001);
  EXPECT_GE(button_height_, 48);
}

TEST_F(PanelsWithoutWindow, BeginClosedInSmallWindows) {
  for (const auto& [width, height, scale] :
       {std::tuple(500.0F, 400.0F, 1.0F), {500.0F, 400.0F, 2.0F}, {800.0F, 600.0F, 2.0F}}) {
    const auto [low, high] = free_part(width, height, scale);
    EXPECT_NEAR(low.x() * static_cast<double>(width), kToolbarWidth * scale, 1) << "the toolbar alone";
    EXPECT_EQ(high, Eigen::Vector2d(1, 1)) << width;
  }
  const auto [low, high] = free_part(1920, 1200, 1);
  EXPECT_GT(high.x() - low.x(), 0.6);
}

TEST_F(PanelsWithoutWindow, CoverNeitherEachOtherNorTheOverlays) {
  for (const auto& [width, height] : {std::pair(500.0F, 400.0F), {800.0F, 600.0F}, {1600.0F, 1000.0F}})
    for (const float scale : {1.0F, 1.5F, 2.0F}) {
      SCOPED_TRACE(testing::Message() << width << " x " << height << " at " << scale);
      (void)free_part(width, height, scale, false, [](ViewerState& state, WindowLayout& layout) {
        layout.help = false;
        state.selection().select(1);
        state.change_settings([](Settings& s) { s.measured = {{0, 0, 0}, {0, 0, 1000}}; });
      });
      std::vector<const ImGuiWindow*> panels;
      for (const ImGuiWindow* one : ImGui::GetCurrentContext()->Windows)
        if (one->WasActive && one->ParentWindow == nullptr && std::string_view(one->Name) != "Debug##Default")
          panels.push_back(one);
      EXPECT_GE(panels.size(), width < 480 * scale ? 1U : 2U) << "the toolbar and a panel";
      for (const ImGuiWindow* panel : panels) {
        const ImRect at = panel->Rect();
        for (const ImGuiWindow* other : panels)
          EXPECT_TRUE(panel == other || !at.Overlaps(other->Rect())) << panel->Name << " and " << other->Name;
        EXPECT_GE(at.Min.x, 0);
        EXPECT_GE(at.Min.y, 0);
        EXPECT_LE(at.Max.x, width);
        EXPECT_LE(at.Max.y, height + 1);
        for (const Rectangle& overlay : {places_.axes, places_.scale_bar})
          EXPECT_FALSE(at.Overlaps({overlay.left, overlay.top, overlay.right, overlay.bottom})) << panel->Name;
      }
    }
}

TEST_F(PanelsWithoutWindow, TheTreeHasFiveRowsInASmallWindow) {
  for (const auto& [width, height, scale] :
       {std::tuple(500.0F, 400.0F, 2.0F), {500.0F, 400.0F, 1.0F}, {1280.0F, 800.0F, 1.0F}}) {
    (void)free_part(width, height, scale, false, [](ViewerState&, WindowLayout& layout) { layout.help = false; });
    ViewerState state(ViewOptions(), {static_cast<int>(width), static_cast<int>(height)});
    state.show(std::make_shared<const Scene>(load(test::data("detector.dae"))));
    SceneLoader loader;
    FrameScheduler frames;
    WindowLayout layout;
    Panels panels(state, loader, frames, layout);
    layout.scene = false;
    float tree = 0;
    std::vector<float> heights;
    for (int i = 0; i != 9; ++i) {
      ImGui::NewFrame();
      panels.draw(width, height);
      for (const ImGuiWindow* one : ImGui::GetCurrentContext()->Windows)
        if (one->Active && std::string_view(one->Name).find("/tree") != std::string_view::npos)
          tree = one->InnerRect.GetHeight();
      ImGui::Render();
      layout.scene = true;
      if (i > 4) heights.push_back(tree);
    }
    const float row = height / scale < 300 ? ImGui::GetFontSize() + 5 * scale : ImGui::GetFrameHeight() + scale;
    EXPECT_GE(tree, 5 * row) << width << " x " << height << " at " << scale;
    for (const float one : heights) EXPECT_EQ(one, tree) << "it stays as it is";
  }
}

TEST_F(PanelsWithoutWindow, MenusOfTheToolbarStayInTheWindow) {
  for (const auto& [width, height, scale] :
       {std::tuple(500.0F, 400.0F, 1.0F), {500.0F, 400.0F, 2.0F}, {1280.0F, 800.0F, 2.0F}}) {
    (void)free_part(width, height, scale, false, [](ViewerState&, WindowLayout& layout) { layout.help = false; });
    ViewerState state(ViewOptions(), {static_cast<int>(width), static_cast<int>(height)});
    SceneLoader loader;
    FrameScheduler frames;
    WindowLayout layout;
    Panels panels(state, loader, frames, layout);
    int menus = 0;
    for (float y = 10; y < height; y += 20 * scale) {
      for (const bool down : {false, true, false, false, false}) {
        ImGui::GetIO().MousePos = {20 * scale, y};
        ImGui::GetIO().MouseDown[0] = down;
        ImGui::NewFrame();
        panels.draw(width, height);
        ImGui::Render();
      }
      for (const ImGuiWindow* one : ImGui::GetCurrentContext()->Windows) {
        if (!one->Active || one->Hidden || (one->Flags & ImGuiWindowFlags_Popup) == 0) continue;
        ++menus;
        EXPECT_GE(one->Pos.y, 0) << y << " in " << height << " at " << scale;
        EXPECT_LE(one->Pos.y + one->Size.y, height + 0.5F) << y << " in " << height << " at " << scale;
        EXPECT_LE(one->Pos.x + one->Size.x, width + 0.5F) << y << " in " << width << " at " << scale;
      }
      if (!ImGui::GetCurrentContext()->OpenPopupStack.empty()) ImGui::ClosePopupToLevel(0, false);
      layout.opening = false;
    }
    EXPECT_GT(menus, 1);
  }
}

TEST_F(PanelsWithoutWindow, CopyTheFactsOfASolidAndOfAGroup) {
  const auto scene = std::make_shared<const Scene>(load(test::data("detector.dae")));
  ViewOptions options;
  options.files = {"detector.dae"};
  ViewerState state(options, {1280, 800});
  state.show(scene);
  const SceneCheck checked = check(*scene);
  state.selection().select_group(0);
  EXPECT_EQ(copied_by_the_mouse(state, 1280, 800), "") << "they are being worked out";
  state.selection().select_group(0);
  state.selection().set_facts(state.selection().version(),
                              state.measurer()->facts(state.selection()->solids, &checked));
  const std::string group = copied_by_the_mouse(state, 1280, 800);
  EXPECT_EQ(group, state.selection().text());
  EXPECT_NE(group.find("\nsolids: " + std::to_string(scene->instances.size()) + '\n'), std::string::npos) << group;
  state.selection().select(1);
  state.selection().set_facts(state.selection().version(),
                              state.measurer()->facts(state.selection()->solids, &checked));
  ImGui::SetClipboardText("");
  EXPECT_NE(copied_by_the_mouse(state, 1280, 800).find("\nsolids: 1\n"), std::string::npos);
}

TEST_F(PanelsWithoutWindow, OpenRecentFilesThatAreThere) {
  const test::TemporaryFolder folder;
  const std::string there = test::data("cube.dae").string();
  ViewerState state(ViewOptions(), {1280, 800});
  state.remember(folder.write("window.json", R"({"recent": ["/nowhere/gone.dae", ")" + there + "\"]}"));
  ASSERT_EQ(state.recent_files().size(), 2U);
  ImGuiIO& io = ImGui::GetIO();
  ImGuiContextHere::make_texture();
  set_style(1, false);
  io.DisplaySize = {1280, 800};
  SceneLoader loader;
  FrameScheduler frames;
  WindowLayout layout;
  Panels panels(state, loader, frames, layout);
  const auto click = [&](float x, float y) {
    for (const bool down : {false, true, false}) {
      io.MousePos = {x, y};
      io.MouseDown[0] = down;
      ImGui::NewFrame();
      panels.draw(1280, 800);
      ImGui::Render();
    }
  };
  for (int i = 0; i != 3; ++i) click(-100, -100);
  const ImGuiWindow* scene = ImGui::FindWindowByName("Scene");
  ASSERT_NE(scene, nullptr);
  // The last tab, and then down its lines.
  const float tabs = scene->Pos.y + 1.5F * ImGui::GetFrameHeight() + ImGui::GetStyle().WindowPadding.y;
  for (int x = 20; static_cast<float>(x) < kLeftWidth; x += 12) click(scene->Pos.x + static_cast<float>(x), tabs);
  for (float y = tabs + 30; y < scene->Pos.y + 400 && state.requests() == 0; y += 5) click(scene->Pos.x + 60, y);
  EXPECT_EQ(state.requests(), 1U);
  EXPECT_EQ(state.file(), there) << "the one before it is gone";
}

TEST_F(PanelsWithoutWindow, ThemesAreReadable) {
  for (const bool light : {false, true}) {
    (void)free_part(1280, 800, 1, light);
    EXPECT_GT(std::abs(text_ - ground_), 0.7F);
    EXPECT_EQ(text_ < ground_, light);
    EXPECT_GT(std::abs(border_ - ground_), 0.35F) << "the border of an unticked box";
    EXPECT_EQ(ImGui::GetStyle().FrameBorderSize, 1);
  }
}

}  // namespace
}  // namespace raylift::viewer
#endif
