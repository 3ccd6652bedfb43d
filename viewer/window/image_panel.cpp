// SPDX-License-Identifier: Apache-2.0
// The panel with the image's settings. Its widgets edit a copy, which replaces the settings where one of them changed
// it.
#include <imgui.h>

#include <functional>

#include "window/panel_items.h"

namespace raylift::viewer {
namespace {

constexpr float kMaxShownDetail = 5;  // pixels; by typing, more
constexpr const char* kRaysShowSurfaces = "Rays show opaque surfaces: choose 'off' at rays to draw with this";

void draw_files(ViewerState& state) {
  const std::vector<std::string> files = state.options().files;
  if (files.size() < 2 || !begin_list("scene", state.file().c_str(), "Open another of the files")) return;
  for (const std::string& file : files)
    if (ImGui::Selectable(file.c_str(), file == state.file()) && file != state.file()) state.open(file);
  ImGui::EndCombo();
}

bool edit_surfaces(Settings& s) {
  const char* rays = s.ray_cast != RayMode::off ? kRaysShowSurfaces : nullptr;
  bool changed = checkbox("wireframe", s.wireframe, "Lines instead of surfaces (M)", rays);
  second_column();
  changed |= checkbox("edges", s.edges, "The triangles' edges over the surfaces (G)", rays);
  bool features = s.feature_edges;
  if (checkbox("feature edges", features, "Edges and wireframes where faces meet at an angle, or end, alone (Shift+G)",
               rays)) {
    s.set_feature_edges(features);
    changed = true;
  }
  second_column();
  changed |= checkbox("smooth", s.smooth, "Smooth or flat shading (N)");
  changed |= checkbox("back faces", s.back_faces, "Faces seen from inside in red stripes (B)");
  changed |= slider("opacity", s.opacity, static_cast<float>(kMinOpacity), 1, "%.2f", "Of all surfaces (T)", rays);
  changed |= slider("detail", s.detail, 0, kMaxShownDetail, "%.2f px",
                    "How far solids that are seen small may lie off, where they are simplified; 0: none is",
                    s.ray_cast != RayMode::off ? "Rays meet the scene's own triangles" : nullptr);
  return changed;
}

void draw_views(ViewerState& state, WindowLayout& layout) {
  for (const char* view : {"front", "right", "top", "iso"}) {
    if (button(view, "Look from there (1, 3, 7, 0)")) state.viewpoint().look(standard_view(view));
    ImGui::SameLine();
  }
  if (button("?", "Keys and mouse (H)")) layout.help = !layout.help;
}

}  // namespace

PanelPlace draw_image_settings(ViewerState& state, WindowLayout& layout, float width) {
  const float wide = panel_width(kRightWidth, width);
  ImGui::SetNextWindowPos({width - wide - em(kGap), em(kGap)});
  ImGui::SetNextWindowSize({wide, 0});
  const bool open = ImGui::Begin("Image", nullptr, ImGuiWindowFlags_NoMove | ImGuiWindowFlags_AlwaysAutoResize);
  if (open) {
    ImGui::PushItemWidth(0.55F * wide);
    draw_files(state);
    Settings s = state.settings();
    bool changed = choose("colour", kColorNames, s.color, "What colours mean (C)");
    changed |= choose("rays", kRayModeNames, s.ray_cast, "Cast rays instead of drawing, and what they show (K)");
    changed |= choose("shells", kShellsNames, s.shells, "How solids are drawn that enclose nearly all others (V)");
    changed |= edit_surfaces(s);
    std::function<void(ViewerState&)> then;
    changed |= edit_clip(s, state, then);
    bool orthographic = state.camera().orthographic;
    if (checkbox("orthographic", orthographic, "Parallel projection (5)"))
      state.viewpoint().set_orthographic(orthographic);
    second_column();
    bool measuring = state.measuring().active();
    if (checkbox("measure", measuring, "Measure distances and angles: clicks on surfaces put points (Y)"))
      state.measuring().set_active(measuring);
    changed |= checkbox("axes", s.axes, "Show the axes (I)");
    second_column();
    changed |= checkbox("scale bar", s.scale_bar, "Show the scale bar (I)");
    checkbox("legend", layout.legend, "Show what the colours mean (J)");
    second_column();
    checkbox("light theme", layout.light, "A light theme for the panels");
    if (changed) state.change_settings([&](Settings& settings) { settings = s; });
    if (then) then(state);
    draw_views(state, layout);
    ImGui::PopItemWidth();
  }
  const PanelPlace place{open && !ImGui::IsWindowCollapsed(), ImGui::GetWindowPos().y + ImGui::GetWindowSize().y};
  ImGui::End();
  return place;
}

}  // namespace raylift::viewer
