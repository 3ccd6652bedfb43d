// SPDX-License-Identifier: Apache-2.0
// What the scene's panel draws: the row of what is selected, the plot of the images' times. In ImGui frames without a
// window.
#ifdef RAYLIFT_WITH_WINDOW
#include <gtest/gtest.h>
#include <imgui.h>
#include <imgui_internal.h>
#include <raylift/geometry/import/load.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/colors/palette.h"
#include "support/images.h"
#include "support/paths.h"
#include "viewer/window/with_imgui.h"
#include "viewer/with_context.h"
#include "window/controls/controls.h"
#include "window/items/panel_items.h"
#include "window/panels/panels.h"

namespace raylift::viewer {
namespace {

class ScenePanel : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    if (IsSkipped()) return;
    imgui_.set_scale(1);
    frames_ = std::make_unique<FrameScheduler>();
    panels_ = std::make_unique<Panels>(state_, loader_, *frames_, layout_);
    state_.show(scene_);
    for (int i = 0; i != 4; ++i) frame();
  }
  void TearDown() override {
    panels_.reset();
    frames_.reset();
    WithContext::TearDown();
  }
  void frame(float x = -100, float y = -100, bool down = false) {
    ImGui::GetIO().MousePos = {x, y};
    ImGui::GetIO().MouseDown[0] = down;
    ImGui::NewFrame();
    panels_->draw(1280, 800);
    ImGui::Render();
  }
  void click(float x, float y) {
    for (const bool down : {false, true, false}) frame(x, y, down);
  }
  /// Draws until the image is complete: on a busy machine it is drawn in turns.
  void draw_whole() {
    do frames_->draw(state_);
    while (frames_->busy(state_));
  }
  /// The window of the last frame whose name has this; null where there is none.
  static const ImGuiWindow* window(const std::string& part) {
    for (const ImGuiWindow* one : ImGui::GetCurrentContext()->Windows)
      if (one->Active && std::string(one->Name).find(part) != std::string::npos) return one;
    return nullptr;
  }
  /// The corners of what it has in a colour.
  static std::vector<ImVec2> corners(const ImGuiWindow& in, ImGuiCol color) {
    std::vector<ImVec2> found;
    for (const ImDrawVert& vertex : in.DrawList->VtxBuffer)
      if (vertex.col == ImGui::GetColorU32(color)) found.push_back(vertex.pos);
    return found;
  }

  ImGuiContextHere imgui_{1280, 800};
  std::shared_ptr<const Scene> scene_ = std::make_shared<const Scene>(load(test::data("detector.dae")));
  ViewerState state_{ViewOptions(), {160, 120}};
  SceneLoader loader_;
  WindowLayout layout_;
  std::unique_ptr<FrameScheduler> frames_;
  std::unique_ptr<Panels> panels_;
};

TEST_F(ScenePanel, OpensTheTreeAsFarDownAsThereIsOneWay) {
  const ImGuiWindow* tree = window("/tree");
  ASSERT_NE(tree, nullptr);
  EXPECT_GT(tree->ContentSize.y, 300 * ImGui::GetFrameHeight()) << "the 300 sensors have rows";
}

TEST_F(ScenePanel, RevealsTheRowOfWhatIsClicked) {
  const auto last = static_cast<std::uint32_t>(scene_->instances.size() - 1);
  float before = 0;
  for (const std::uint32_t solid : {last, std::uint32_t{0}, last / 2}) {
    state_.selection().select(Picked{solid, 0}, Cursor{80, 60, {160, 120}});
    for (int i = 0; i != 3; ++i) frame();
    const ImGuiWindow* tree = window("/tree");
    ASSERT_NE(tree, nullptr);
    const std::vector<ImVec2> row = corners(*tree, ImGuiCol_Header);
    ASSERT_FALSE(row.empty()) << "the row of solid " << solid << " is drawn";
    for (const ImVec2& corner : row) {
      EXPECT_GE(corner.y, tree->InnerRect.Min.y) << solid;
      EXPECT_LE(corner.y, tree->InnerRect.Max.y) << solid;
    }
    EXPECT_NE(tree->Scroll.y, before);
    before = tree->Scroll.y;
  }
}

/// The pixels of the image that have the colour of what is found.
int found_pixels(const Image& image) {
  int count = 0;
  for (int y = 0; y != image.height; ++y)
    for (int x = 0; x != image.width; ++x) {
      const Pixel pixel = image.at(x, y);
      bool same = true;
      for (std::size_t i = 0; i != 3; ++i) same = same && std::abs(pixel[i] - 255 * kFoundColor[i]) < 6;
      count += same;
    }
  return count;
}

TEST_F(ScenePanel, MarksWhatTheSearchFindsAndMovesNoButton) {
  const auto buttons = [&] {
    const ImGuiWindow* tree = window("/tree");
    return tree == nullptr ? 0 : tree->Pos.y;
  };
  const float before = buttons();
  draw_whole();
  EXPECT_EQ(found_pixels(frames_->renderer().read()), 0);
  const ImGuiWindow* scene = window("Scene");
  ASSERT_NE(scene, nullptr);
  const float tabs = scene->Pos.y + 1.5F * ImGui::GetFrameHeight() + ImGui::GetStyle().WindowPadding.y;
  click(scene->Pos.x + 100, tabs + ImGui::GetFrameHeightWithSpacing());
  ImGui::GetIO().AddInputCharactersUTF8("Sensor_1*_pv");
  for (int i = 0; i != 3; ++i) frame();
  ASSERT_EQ(state_.selection().found().size(), 111U) << "found without Geant4's pointer";
  EXPECT_EQ(buttons(), before);
  draw_whole();
  EXPECT_GT(found_pixels(frames_->renderer().read()), 3);
  // They belong to the search that is seen, and to nothing that is saved.
  const int marked = found_pixels(frames_->renderer().read());
  EXPECT_EQ(found_pixels(frames_->read_image(state_)), 0);
  EXPECT_EQ(found_pixels(frames_->renderer().read()), marked) << "the window keeps them";
  const std::vector<std::uint32_t> found = state_.selection().found();
  state_.change_solids([&](Solids& solids) { solids.set_visible(found, false); });
  draw_whole();
  EXPECT_EQ(found_pixels(frames_->renderer().read()), 0) << "of hidden solids";
  state_.appearance().undo();
  layout_.scene = false;
  frame();
  EXPECT_TRUE(state_.selection().found().empty()) << "the panel is closed";
  layout_.scene = true;
  for (int i = 0; i != 3; ++i) frame();
  EXPECT_EQ(state_.selection().found(), found);
  click(scene->Pos.x + 100, tabs + ImGui::GetFrameHeightWithSpacing());
  ImGui::GetIO().AddInputCharactersUTF8("no such solid");
  for (int i = 0; i != 3; ++i) frame();
  EXPECT_TRUE(state_.selection().found().empty());
  EXPECT_EQ(buttons(), before);
  draw_whole();
  EXPECT_EQ(found_pixels(frames_->renderer().read()), 0);
}

TEST_F(ScenePanel, SearchesWithCtrlF) {
  layout_.scene = false;
  layout_.next_tab = WindowLayout::Tab::bookmarks;
  frame();
  ASSERT_NE(find_control(Control::Kind::key, "F", true, false), nullptr);
  find_control(Control::Kind::key, "F", true, false)->act({state_, frames_.get(), layout_, loader_, {}}, {});
  for (int i = 0; i != 3; ++i) frame();
  ImGui::GetIO().AddInputCharactersUTF8("sensor 117");
  for (int i = 0; i != 3; ++i) frame();
  EXPECT_FALSE(state_.selection().found().empty());
  // Its text is replaced by what is typed, and a button clears it.
  click(640, 400);
  frame();
  find_control(Control::Kind::key, "F", true, false)->act({state_, frames_.get(), layout_, loader_, {}}, {});
  for (int i = 0; i != 3; ++i) frame();
  ImGui::GetIO().AddInputCharactersUTF8("no such solid");
  for (int i = 0; i != 3; ++i) frame();
  EXPECT_TRUE(state_.selection().found().empty()) << "sensor 117 was replaced";
  ImGui::GetIO().AddInputCharactersUTF8("");
  const ImGuiWindow* scene = window("Scene");
  ASSERT_NE(scene, nullptr);
  const float tabs = scene->Pos.y + 1.5F * ImGui::GetFrameHeight() + ImGui::GetStyle().WindowPadding.y;
  click(scene->Pos.x + scene->Size.x - ImGui::GetStyle().WindowPadding.x - 0.5F * ImGui::GetFrameHeight(),
        tabs + ImGui::GetFrameHeightWithSpacing());
  for (int i = 0; i != 3; ++i) frame();
  const ImGuiWindow* tree = window("/tree");
  ASSERT_NE(tree, nullptr);
  EXPECT_GT(tree->ContentSize.y, 10 * ImGui::GetFrameHeight()) << "all solids are listed again";
  EXPECT_EQ(find_control(Control::Kind::key, "T", true, false), nullptr) << "Ctrl+T is not T";
  EXPECT_NE(find_control(Control::Kind::key, "T", false, true), nullptr);
}

TEST_F(ScenePanel, SavesImagesLargerThanTheWindow) {
  const test::TemporaryFolder folder;
  draw_whole();
  const Resolution window = state_.framebuffer();
  const Image small = frames_->renderer().read();
  const Camera camera = state_.camera();
  const std::filesystem::path file = folder.path() / "large.png";
  frames_->save_image(state_, file, 2);
  const Image large = read_png(file);
  EXPECT_EQ(large.width, 2 * window.width);
  EXPECT_EQ(large.height, 2 * window.height);
  EXPECT_EQ(state_.framebuffer(), window);
  EXPECT_EQ(frames_->renderer().resolution(), window);
  EXPECT_EQ(state_.camera(), camera);
  const Pixel middle = small.at(window.width / 2, window.height / 2), same = large.at(window.width, window.height);
  for (std::size_t i = 0; i != 3; ++i) EXPECT_NEAR(middle[i], same[i], 12) << "the same view";
}

TEST_F(ScenePanel, MarksNoMoreThanIsDrawnFluently) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i != scene_->instances.size(); ++i) all.push_back(i);
  std::vector<std::uint32_t> often;
  while (often.size() * 100 < 2 * Selection::kMaxMarked) often.insert(often.end(), all.begin(), all.end());
  state_.selection().mark_found(often);
  std::size_t triangles = 0;
  for (const std::uint32_t i : state_.selection().found())
    triangles += scene_->meshes[scene_->instances[i].mesh].triangles.size();
  EXPECT_LE(triangles, Selection::kMaxMarked);
  EXPECT_GT(triangles, Selection::kMaxMarked / 2);
  state_.show(std::make_shared<const Scene>(load(test::data("cube.dae"))));
  EXPECT_TRUE(state_.selection().found().empty()) << "of another scene";
}

TEST_F(ScenePanel, SelectsTheSolidsOfASurface) {
  layout_.next_tab = WindowLayout::Tab::surfaces;
  for (int i = 0; i != 4; ++i) frame();
  const ImGuiWindow* scene = window("Scene");
  ASSERT_NE(scene, nullptr);
  const float row = ImGui::GetFrameHeightWithSpacing(), tabs = scene->Pos.y + ImGui::GetFrameHeight() + 0.5F * row;
  click(scene->Pos.x + 100, tabs + 1.3F * row);
  ImGui::GetIO().AddInputCharactersUTF8("bialkali");
  for (int i = 0; i != 3; ++i) frame();
  // Below the search and the box: two lines, of which either is clicked.
  click(scene->Pos.x + 100, tabs + 3.6F * row);
  ASSERT_TRUE(state_.selection());
  EXPECT_EQ(state_.selection()->solids.size(), 300U);
  EXPECT_TRUE(state_.selection()->is_set());
  EXPECT_EQ(state_.selection()->name, "CathodeSurface, skin surface between Vacuum and Bialkali");
  EXPECT_FALSE(state_.selection().found().empty()) << "they are marked";
  for (int i = 0; i != 3; ++i) frame();
  ASSERT_NE(window("Selection"), nullptr);
  state_.selection().select(std::nullopt);
  EXPECT_TRUE(state_.selection().found().empty());
}

TEST_F(ScenePanel, OpensTheEditorOfTheScaleAtTheLegend) {
  state_.change_settings([](Settings& s) { s.ray_cast = RayMode::crossings; });
  layout_.legend = false;
  for (int i = 0; i != 3; ++i) frame();
  layout_.scale = WindowLayout::Scale::solids;
  for (int i = 0; i != 4; ++i) frame();
  EXPECT_EQ(layout_.scale, WindowLayout::Scale::none);
  EXPECT_TRUE(layout_.legend);
  ASSERT_EQ(ImGui::GetCurrentContext()->OpenPopupStack.Size, 1);
  const ImGuiWindow* legend = window("Legend");
  const ImGuiWindow* editor = ImGui::GetCurrentContext()->OpenPopupStack[0].Window;
  ASSERT_NE(legend, nullptr);
  ASSERT_NE(editor, nullptr);
  EXPECT_LE(editor->Pos.x + editor->Size.x, legend->Pos.x) << "the scale stays in sight";
}

TEST_F(ScenePanel, PlotsTheTimesOfTheLastImages) {
  for (int i = 0; i != 9; ++i) {
    state_.change_settings([&](Settings& s) { s.edges = i % 2 == 0; });
    frames_->draw(state_);
  }
  const std::vector<float>& times = frames_->draw_times();
  ASSERT_GE(times.size(), 9U);
  const ImGuiWindow* scene = window("Scene");
  ASSERT_NE(scene, nullptr);
  const float tabs = scene->Pos.y + 1.5F * ImGui::GetFrameHeight() + ImGui::GetStyle().WindowPadding.y;
  std::vector<ImVec2> bars;
  for (int x = 20; static_cast<float>(x) < kLeftWidth && bars.empty(); x += 12) {
    click(scene->Pos.x + static_cast<float>(x), tabs);
    bars = corners(*scene, ImGuiCol_PlotHistogram);
  }
  ASSERT_EQ(bars.size(), 4 * times.size()) << "a bar for each";
  const auto height = [&](std::size_t i) { return bars[4 * i + 2].y - bars[4 * i].y; };
  const auto most = static_cast<std::size_t>(std::max_element(times.begin(), times.end()) - times.begin());
  ASSERT_GT(height(most), 5);
  for (std::size_t i = 0; i != times.size(); ++i) {
    EXPECT_NEAR(height(i) / height(most), times[i] / times[most], 0.02) << i;
    EXPECT_TRUE(i == 0 || bars[4 * i].x > bars[4 * i - 4].x) << "the newest at the right";
  }
}

TEST_F(ScenePanel, ButtonsOfTheSelectionStayInIt) {
  for (std::uint32_t solid = 0; solid != 8; ++solid) {
    state_.selection().select(solid);
    state_.appearance().set_style(solid % 2 == 0 ? Style::glass : Style::plain);
    for (int i = 0; i != 3; ++i) frame();
    const ImGuiWindow* selected = window("Selection");
    ASSERT_NE(selected, nullptr);
    EXPECT_LE(selected->ContentSize.x, selected->InnerRect.GetWidth()) << scene_->solid_name(scene_->instances[solid]);
  }
}

TEST_F(ScenePanel, EscapeStopsReadingAFile) {
  const ControlTarget target{state_, nullptr, layout_, loader_, [](const std::string&) {}};
  const std::string file = test::data("detector.dae").string();
  std::shared_ptr<const Scene> before;
  // On a machine with much else to do it may be read before poll() returns.
  for (int i = 0; i != 50 && !loader_.loading(); ++i) {
    before = state_.scene();
    state_.open(file);
    loader_.poll(state_);
  }
  ASSERT_TRUE(loader_.loading());
  find_control(Control::Kind::key, "Escape", false, false)->act(target, {});
  EXPECT_FALSE(loader_.loading());
  for (int i = 0; i != 3; ++i) loader_.poll(state_);
  EXPECT_FALSE(loader_.reads(state_)) << "it is not begun again";
  EXPECT_EQ(state_.scene(), before) << "the scene before stays";
  EXPECT_EQ(state_.messages().error(), "");
}

}  // namespace
}  // namespace raylift::viewer
#endif
