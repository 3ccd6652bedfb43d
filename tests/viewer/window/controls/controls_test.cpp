// SPDX-License-Identifier: Apache-2.0
// Keys and mouse gestures: their table is in the docs, and each of them finds its control. The state behind them.
#include "window/controls/controls.h"
#include <raylift/geometry/scene/scene.h>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "state/viewer_state.h"
#include "support/paths.h"

namespace raylift::viewer {
namespace {

using Kind = Control::Kind;

/// A table for each group, and one for gestures that differ by scheme.
std::string tables_of_controls() {
  std::string text;
  for (std::size_t i = 0; i != kControlGroupNames.size(); ++i) {
    text += "\n**" + std::string(kControlGroupNames[i]) + "**\n\n| key or gesture | |\n|---|---|\n";
    for (const Control& control : controls())
      if (control.group == static_cast<Control::Group>(i))
        text += "| " + control.all_names() + " | " + std::string(control.help) + " |\n";
  }
  text += "\n| `--controls` |";
  for (const std::string_view scheme : kMouseSchemeNames) text += ' ' + std::string(scheme) + " |";
  text += "\n|---|---|---|---|\n";
  for (const Control& control : controls()) {
    if (!control.differs_by_scheme()) continue;
    text += "| " + std::string(control.help) + " |";
    for (std::size_t scheme = 0; scheme != kMouseSchemeNames.size(); ++scheme)
      text += ' ' + control.all_names(static_cast<MouseScheme>(scheme)) + " |";
    text += '\n';
  }
  return text + '\n';
}

TEST(Controls, AreInTheDocsAsTheyAre) {
  std::ostringstream page;
  page << std::ifstream(test::source_dir() / "docs/viewer.md").rdbuf();
  const std::string text = page.str();
  const std::size_t begin = text.find("\n", text.find("<!-- controls:")) + 1;
  const std::size_t end = text.find("<!-- end of controls -->");
  ASSERT_NE(end, std::string::npos);
  EXPECT_EQ(text.substr(begin, end - begin), tables_of_controls()) << "copy the tables into docs/viewer.md";
}

TEST(Controls, HaveNamesOfTheirOwn) {
  for (const MouseScheme scheme : {MouseScheme::raylift, MouseScheme::vtk, MouseScheme::blender}) {
    std::set<std::pair<Kind, std::string_view>> names;
    for (const Control& control : controls())
      for (const std::string_view name : control.names_in(scheme))
        EXPECT_TRUE(names.emplace(control.kind, name).second) << name;
  }
}

std::string help_of(Kind kind, const char* name, bool control, bool shift, MouseScheme scheme = MouseScheme::raylift) {
  const Control* found = find_control(kind, name, control, shift, scheme);
  return std::string(found == nullptr ? "" : found->help);
}

TEST(Controls, AreFoundByNameAndModifiers) {
  EXPECT_EQ(help_of(Kind::key, "Num 1", false, false), "view from the front");
  EXPECT_EQ(help_of(Kind::key, "Num 1", true, false), "view from the back");
  EXPECT_EQ(help_of(Kind::key, "1", false, true), "view from the front");
  EXPECT_EQ(help_of(Kind::key, "1", true, true), "view from the back");
  EXPECT_EQ(help_of(Kind::key, "1", false, false), "go to the bookmark with this key");
  EXPECT_EQ(help_of(Kind::key, "0", true, false), "bookmark the view with this key");
  EXPECT_EQ(help_of(Kind::key, "X", false, true), "clip along the next axis");
  EXPECT_EQ(help_of(Kind::key, "M", false, true), "wireframe") << "Shift, which it has not, does not count";
  EXPECT_EQ(help_of(Kind::key, "M", true, true), "") << "Ctrl+M is another key";
  EXPECT_EQ(help_of(Kind::key, "D", true, false), "bookmark the view with the first free key");
  EXPECT_EQ(help_of(Kind::key, "D", false, false), "") << "it is held to fly";
  EXPECT_EQ(help_of(Kind::key, "", false, false), "");
}

TEST(Controls, OfTheMouseFollowTheScheme) {
  using Scheme = MouseScheme;
  const auto drag = [](const char* name, bool control, bool shift, Scheme scheme) {
    return help_of(Kind::drag, name, control, shift, scheme);
  };
  for (const Scheme scheme : {Scheme::raylift, Scheme::vtk, Scheme::blender}) {
    EXPECT_EQ(drag("left drag", false, false, scheme), "orbit");
    EXPECT_EQ(drag("left drag", false, true, scheme), "pan");
    EXPECT_EQ(drag("left drag", true, false, scheme), "look around");
    EXPECT_EQ(drag("right drag", true, false, scheme), "move the source of light");
  }
  EXPECT_EQ(drag("right drag", false, false, Scheme::raylift), "pan");
  EXPECT_EQ(drag("right drag", false, false, Scheme::vtk), "zoom");
  EXPECT_EQ(drag("middle drag", false, false, Scheme::vtk), "pan");
  EXPECT_EQ(drag("middle drag", false, false, Scheme::blender), "orbit");
  EXPECT_EQ(drag("middle drag", false, true, Scheme::blender), "pan");
  EXPECT_EQ(drag("middle drag", true, false, Scheme::blender), "zoom");
  // Upwards is nearer, in VTK and Blender.
  Camera camera;
  ControlEvent event;
  event.dy = -12;
  const Control* zoom = find_control(Kind::drag, "right drag", false, false, Scheme::vtk);
  std::get<void (*)(Camera&, const ControlEvent&)>(zoom->action)(camera, event);
  EXPECT_LT(camera.distance, Camera().distance);
}

TEST(ViewerState, ChangesOfTheImageRaiseTheRevision) {
  Scene scene;
  scene.meshes.emplace_back();
  scene.meshes[0].vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  scene.meshes[0].triangles = {{0, 1, 2}};
  scene.instances.emplace_back();
  scene.bounds.add({0, 0, 0});
  scene.bounds.add({1, 1, 0});
  ViewerState state(ViewOptions{}, {640, 480});
  const auto raises = [&](const auto& change) {
    const std::uint64_t before = state.revision();
    change();
    return state.revision() != before;
  };
  const std::array<std::uint32_t, 1> solid{0};
  EXPECT_TRUE(raises([&] { state.show(std::make_shared<const Scene>(scene)); }));
  EXPECT_TRUE(raises([&] { state.set_device_scene(nullptr); }));
  EXPECT_TRUE(raises([&] { state.change_solids([&](Solids& s) { s.set_visible(solid, false); }); }));
  EXPECT_TRUE(raises([&] { state.viewpoint().set_framebuffer({320, 240}); }));
  EXPECT_TRUE(raises([&] { state.change_settings([](Settings& s) { s.edges = true; }); }));
  EXPECT_TRUE(raises([&] { state.viewpoint().move([](Camera& c) { c.zoom(2); }); }));
  EXPECT_TRUE(state.viewpoint().moving());
  EXPECT_TRUE(raises([&] { state.viewpoint().set_orthographic(true); }));
  EXPECT_TRUE(raises([&] { state.viewpoint().look(StandardView::top); }));
  EXPECT_TRUE(raises([&] { state.viewpoint().frame_all(); }));
  EXPECT_TRUE(raises([&] { state.viewpoint().focus(solid); }));
  EXPECT_TRUE(raises([&] { state.selection().select(0); }));
  EXPECT_TRUE(raises([&] { state.appearance().hide_selection(); }));
  EXPECT_TRUE(raises([&] { state.go_to({}); }));
  EXPECT_FALSE(raises([&] { state.messages().show("done"); })) << "messages are beside the image";
  EXPECT_EQ(state.messages().text(), "done");
  EXPECT_FALSE(raises([&] { state.viewpoint().set_framebuffer({320, 240}); })) << "nothing changed";
}

TEST(ViewerState, RaysAnswerToNoKeyThatTheyDoNotShow) {
  ViewerState state(ViewOptions{}, {640, 480});
  state.change_settings([](Settings& s) { s.ray_cast = RayMode::shaded; });
  SceneLoader loader;
  WindowLayout layout;
  const ControlTarget target{state, nullptr, layout, loader, [](const std::string&) {}};
  for (const char* key : {"M", "G", "T"}) find_control(Kind::key, key, false, false)->act(target, {});
  find_control(Kind::key, "G", false, true)->act(target, {});
  EXPECT_FALSE(state.settings().wireframe);
  EXPECT_FALSE(state.settings().edges || state.settings().feature_edges);
  EXPECT_EQ(state.settings().opacity, 1);
  EXPECT_NE(state.messages().text().find("rays show"), std::string::npos) << state.messages().text();
  state.change_settings([](Settings& s) { s.ray_cast = RayMode::off; });
  find_control(Kind::key, "M", false, false)->act(target, {});
  EXPECT_TRUE(state.settings().wireframe);
  const auto features = [&] { find_control(Kind::key, "G", false, true)->act(target, {}); };
  features();
  EXPECT_TRUE(state.settings().feature_edges && !state.settings().edges) << "of the wireframe";
  features();
  find_control(Kind::key, "M", false, false)->act(target, {});
  features();
  EXPECT_TRUE(state.settings().feature_edges && state.settings().edges);
}

/// Each control has a tip: none is made but by the functions of panel_items.cpp, which ask for one.
TEST(Panels, MakeControlsWithTipsAlone) {
  for (const auto& entry : std::filesystem::directory_iterator(test::source_dir() / "viewer/window")) {
    if (entry.path().filename() == "panel_items.cpp" || entry.path().extension() != ".cpp") continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    for (const char* raw :
         {"ImGui::Button", "ImGui::SmallButton", "ImGui::Checkbox", "ImGui::Slider", "ImGui::BeginCombo",
          "ImGui::InputText", "ImGui::ArrowButton", "ImGui::Radio", "ImGui::Drag"})
      EXPECT_EQ(text.str().find(raw), std::string::npos) << entry.path() << ": " << raw;
  }
}

}  // namespace
}  // namespace raylift::viewer
