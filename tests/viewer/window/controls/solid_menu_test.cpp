// SPDX-License-Identifier: Apache-2.0
// The menu of a solid: each of its rows does what it says, and it opens where a solid was clicked.
#include "window/controls/solid_menu.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "state/frame_scheduler.h"
#include "viewer/remote/outside_scene.h"
#include "viewer/remote/with_outside.h"
#include "viewer/with_context.h"

namespace raylift::viewer {
namespace {

class SolidMenu : public Outside {
 protected:
  void choose(const char* label) {
    for (const MenuRow& row : solid_menu(state_))
      if (row.label == label) return row.act(target());
    FAIL() << "no row " << label;
  }
  ControlTarget target() {
    return {state_, nullptr, layout_, loader_, [](const std::string&) {}, [&](const std::string& s) { copied_ = s; }};
  }
  [[nodiscard]] std::string marked() const {
    std::string all;
    for (const MenuRow& row : solid_menu(state_))
      if (row.chosen) all += row.label;
    return all;
  }
  std::string copied_;
};

using Bytes = std::vector<std::uint8_t>;

TEST_F(SolidMenu, ItsKeysAreThoseOfControls) {
  state_.selection().select(1);
  const std::vector<MenuRow> rows = solid_menu(state_);
  EXPECT_TRUE(rows.front().first);
  for (const MenuRow& row : rows)
    EXPECT_TRUE(row.key.empty() || find_control(Control::Kind::key, row.key, false, false) != nullptr) << row.label;
  state_.selection().select(std::nullopt);
  EXPECT_TRUE(solid_menu(state_).empty());
}

TEST_F(SolidMenu, ChangesWhatIsSeen) {
  state_.selection().select(1);
  choose("Show only");
  EXPECT_EQ(state_.solids()->visible(), (Bytes{0, 1, 0}));
  choose("Undo");
  EXPECT_EQ(state_.solids()->visible(), (Bytes{1, 1, 1}));
  choose("Ghost others");
  EXPECT_EQ(state_.solids()->styles(), (Bytes{1, 0, 1}));
  choose("Ghost others");
  choose("glass");
  EXPECT_EQ(state_.solids()->styles(), (Bytes{0, 2, 0}));
  EXPECT_EQ(marked(), "glass");
  choose("default");
  EXPECT_EQ(marked(), "default");
  choose("Hide");
  EXPECT_EQ(state_.solids()->visible(), (Bytes{1, 0, 1}));
  EXPECT_FALSE(state_.selection());
  state_.selection().select(2);
  choose("Show all");
  EXPECT_EQ(state_.solids()->visible(), (Bytes{1, 1, 1}));
}

TEST_F(SolidMenu, MovesTheCameraAndClips) {
  state_.selection().select(2);
  choose("Frame");
  EXPECT_NEAR(state_.camera().target.x(), 300, 20);
  state_.selection().select(1);
  choose("Focus: all others faint");
  EXPECT_NEAR(state_.camera().target.x(), -300, 20);
  EXPECT_EQ(state_.appearance().looks()[2], static_cast<std::uint8_t>(Look::faint));
  choose("Clipping box around it");
  ASSERT_TRUE(state_.settings().clip_box);
  EXPECT_NEAR(state_.settings().clip_box->box.center().x, -300, 1);
}

TEST_F(SolidMenu, CopiesNames) {
  state_.selection().select(1);
  choose("Copy name");
  EXPECT_EQ(copied_, "pmt_1");
  choose("Copy path");
  EXPECT_EQ(copied_, "/tank/pmt_1");
  EXPECT_EQ(state_.messages().text(), "copied: /tank/pmt_1");
}

TEST_F(SolidMenu, OfAGroupIsForAllOfIt) {
  state_.selection().select_group(0);
  choose("Hide");
  EXPECT_EQ(state_.solids()->visible(), (Bytes{0, 0, 0}));
}

TEST_F(SolidMenu, IsClosedByEscapeBeforeAnythingElse) {
  state_.selection().select(1);
  layout_.menu = WindowLayout::Menu::open;
  const auto escape = [&] { find_control(Control::Kind::key, "Escape", false, false)->act(target(), {}); };
  escape();
  EXPECT_EQ(layout_.menu, WindowLayout::Menu::closed);
  EXPECT_TRUE(state_.selection());
  escape();
  EXPECT_FALSE(state_.selection());
}

class ClickedMenu : public WithContext {};

TEST_F(ClickedMenu, IsThatOfTheSolidUnderTheCursor) {
  ViewerState state(without_bookmarks(), kSize);
  state.show(three_boxes());
  state.viewpoint().look(StandardView::front);
  SceneLoader loader;
  FrameScheduler frames;
  WindowLayout layout;
  std::string printed;
  const ControlTarget target{state, &frames, layout, loader, [&](const std::string& line) { printed += line + '\n'; }};
  frames.draw(state);
  const Control* click = find_control(Control::Kind::click, "right click", false, false);
  ASSERT_NE(click, nullptr);
  const auto click_at = [&](const Eigen::Vector3d& point) {
    layout.menu = WindowLayout::Menu::closed;
    const Eigen::Vector3d at = state.camera().project(point, static_cast<double>(kSize.width) / kSize.height);
    ControlEvent event;
    event.cursor = {(0.5 + 0.5 * at.x()) * kSize.width, (0.5 - 0.5 * at.y()) * kSize.height, kSize};
    click->act(target, event);
    return layout.menu == WindowLayout::Menu::opening;
  };
  EXPECT_FALSE(click_at({0, 0, 700})) << "the tank is a shell: clicks go through it";
  EXPECT_FALSE(state.selection());
  EXPECT_TRUE(click_at({-300, -50, 0}));
  EXPECT_EQ(printed, "/tank/pmt_1\n");
  EXPECT_TRUE(click_at({300, -50, 0}));
  EXPECT_EQ(state.selection()->name, "pmt_2");
  // What is selected with others stays so.
  state.selection().select_group(0);
  EXPECT_TRUE(click_at({300, -50, 0}));
  EXPECT_EQ(state.selection()->solids.size(), 3U);
}

}  // namespace
}  // namespace raylift::viewer
