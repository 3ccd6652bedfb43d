// SPDX-License-Identifier: Apache-2.0
// The panel with the image's settings. Its widgets edit a copy, which the state takes where one of them changed it.
#include <imgui.h>

#include "panel_items.h"

namespace raylift::viewer {
namespace {

constexpr float kSecondColumn = 120;

/// A list to choose an enumeration's value from, by its name.
template <class Enum, std::size_t N>
bool combo(const char* label, const std::array<std::string_view, N>& names, Enum& chosen) {
  bool changed = false;
  if (!ImGui::BeginCombo(label, names[static_cast<std::size_t>(chosen)].data())) return false;
  for (std::size_t i = 0; i < N; ++i)
    if (ImGui::Selectable(names[i].data(), i == static_cast<std::size_t>(chosen))) {
      changed |= static_cast<std::size_t>(chosen) != i;
      chosen = static_cast<Enum>(i);
    }
  ImGui::EndCombo();
  return changed;
}

void draw_files(ViewerState& state) {
  const std::vector<std::string> files = state.options().files;
  if (files.size() < 2 || !ImGui::BeginCombo("scene", state.file().c_str())) return;
  for (const std::string& file : files)
    if (ImGui::Selectable(file.c_str(), file == state.file()) && file != state.file()) state.open(file);
  ImGui::EndCombo();
}

bool edit_surfaces(Settings& s) {
  bool wireframe = s.fill == Fill::wireframe;
  bool changed = ImGui::Checkbox("wireframe", &wireframe);
  s.fill = wireframe ? Fill::wireframe : Fill::surface;
  ImGui::SameLine(kSecondColumn);
  changed |= ImGui::Checkbox("edges", &s.edges);
  changed |= ImGui::Checkbox("smooth", &s.smooth);
  ImGui::SameLine(kSecondColumn);
  changed |= ImGui::Checkbox("back faces", &s.back_faces);
  changed |= ImGui::SliderFloat("opacity", &s.opacity, 0.02F, 1, "%.2f");
  return changed;
}

/// `bounds`: the scene's; null where there is none.
bool edit_clip(Settings& s, const Bounds* bounds, const Eigen::Vector3d& forward) {
  bool clip = s.clip.has_value();
  bool changed = ImGui::Checkbox("clip", &clip);
  if (clip != s.clip.has_value()) s.clip = clip ? std::optional(facing_plane(forward)) : std::nullopt;
  if (!s.clip || bounds == nullptr) return changed;
  ImGui::SameLine(kSecondColumn);
  changed |= ImGui::Checkbox("caps", &s.caps);
  for (int axis = 0; axis != 3; ++axis) {
    if (ImGui::SmallButton(std::array{"x", "y", "z"}[static_cast<std::size_t>(axis)])) {
      s.clip = facing_plane(forward, axis);
      changed = true;
    }
    ImGui::SameLine();
  }
  if (ImGui::SmallButton("flip")) {
    s.clip = ClipPlane{-s.clip->normal, -s.clip->offset_in(*bounds)};
    changed = true;
  }
  const double reach = 0.5 * bounds->size().norm();
  const double middle = s.clip->normal.dot(bounds->center());
  auto offset = static_cast<float>(s.clip->offset_in(*bounds) - middle);
  if (ImGui::SliderFloat("mm", &offset, static_cast<float>(-reach), static_cast<float>(reach), "%.6g")) {
    s.clip->offset = middle + static_cast<double>(offset);
    changed = true;
  }
  return changed;
}

void draw_views(ViewerState& state, WindowLayout& layout) {
  for (const char* view : {"front", "right", "top", "iso"}) {
    if (ImGui::SmallButton(view)) state.look(standard_view(view));
    ImGui::SameLine();
  }
  if (ImGui::SmallButton("?")) layout.help = !layout.help;
}

}  // namespace

void draw_image_settings(ViewerState& state, WindowLayout& layout, float width) {
  ImGui::SetNextWindowPos({width - kRightWidth - kGap, kGap});
  ImGui::SetNextWindowSize({kRightWidth, 0});
  if (ImGui::Begin("Image", nullptr, ImGuiWindowFlags_NoMove | ImGuiWindowFlags_AlwaysAutoResize)) {
    ImGui::PushItemWidth(130);
    draw_files(state);
    Settings s = state.settings();
    bool changed = combo("colour", kColorNames, s.color);
    changed |= combo("rays", kRayModeNames, s.rays);
    changed |= combo("shells", kShellsNames, s.shells);
    changed |= edit_surfaces(s);
    changed |= edit_clip(s, state.scene() ? &state.scene()->bounds : nullptr, state.camera().forward());
    bool orthographic = state.camera().orthographic;
    if (ImGui::Checkbox("orthographic", &orthographic)) state.set_orthographic(orthographic);
    changed |= ImGui::Checkbox("axes", &s.axes);
    ImGui::SameLine(kSecondColumn);
    changed |= ImGui::Checkbox("scale bar", &s.scale_bar);
    if (changed) state.change_settings([&](Settings& settings) { settings = s; });
    draw_views(state, layout);
    ImGui::PopItemWidth();
  }
  ImGui::End();
}

}  // namespace raylift::viewer
