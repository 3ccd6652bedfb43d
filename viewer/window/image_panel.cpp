// SPDX-License-Identifier: Apache-2.0
// The panel with the image's settings, clipping planes and the clipping box among them, and the handles of the box. Its
// widgets edit a copy, which replaces the settings where one of them changed it.
#include <imgui.h>
#include <raylift/geometry/scene/eigen.h>

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

#include "model/clip_box.h"
#include "window/panel_items.h"

namespace raylift::viewer {
namespace {

bool edit_caps(Settings& s) {
  return checkbox("caps", s.caps, "Close solids where planes cut them, with their colours");
}

/// Buttons that choose the plane which is moved, and how many there are.
bool edit_plane(Settings& s, const Bounds& bounds, const Eigen::Vector3d& forward) {
  bool changed = false;
  for (int axis = 0; axis != 3; ++axis) {
    if (button(std::array{"x", "y", "z"}[static_cast<std::size_t>(axis)],
               "Clip across this axis (Shift+X: the next)")) {
      s.clip = facing_plane(forward, axis);
      changed = true;
    }
    ImGui::SameLine();
  }
  if (button("flip", "Cut the other half")) {
    s.clip = ClipPlane{-s.clip->normal, -s.clip->offset_in(bounds)};
    changed = true;
  }
  ImGui::SameLine();
  if (s.planes().size() < kMaxPlanes && button("+", "Add another plane; all of them hold")) {
    int axis = 0;
    s.clip->normal.cwiseAbs().maxCoeff(&axis);
    s.more_clips.push_back(*s.clip);
    s.clip = facing_plane(forward, (axis + 1) % 3);
    changed = true;
  }
  if (!s.more_clips.empty()) {
    ImGui::SameLine();
    if (button("-", "Remove this plane, and go back to the one before")) {
      s.clip = s.more_clips.back();
      s.more_clips.pop_back();
      changed = true;
    }
  }
  return changed;
}

bool edit_planes(Settings& s, const Bounds& bounds, const Eigen::Vector3d& forward) {
  bool changed = edit_caps(s);
  changed |= edit_plane(s, bounds, forward);
  const double reach = 0.5 * to_eigen(bounds.size()).norm();
  const double middle = s.clip->normal.dot(to_eigen(bounds.center()));
  auto offset = static_cast<float>(s.clip->offset_in(bounds) - middle);
  if (slider("mm", offset, static_cast<float>(-reach), static_cast<float>(reach), "%.6g",
             "Where the plane is, from the scene's centre ([ and ])")) {
    s.clip->offset = middle + static_cast<double>(offset);
    changed = true;
  }
  return changed;
}

bool edit_box(Settings& s, const ViewerState& state, std::function<void(ViewerState&)>& then) {
  bool changed = edit_caps(s);
  second_column();
  changed |= checkbox("cut away", s.clip_box->away, "Hide what is in the box, and not what is outside");
  Bounds box = s.clip_box->box;
  ImGui::PushItemWidth(-em(34));
  bool typed = point_field("from", box.min, "The least corner of the box, mm: x, y, z; Enter sets it");
  typed |= point_field("to", box.max, "The greatest corner of the box, mm: x, y, z; Enter sets it");
  ImGui::PopItemWidth();
  if (typed && (to_eigen(box.min).array() < to_eigen(box.max).array()).all()) {
    s.clip_box->box = box;
    changed = true;
  }
  if (button("fit", state.selection() ? "Put the box around what is selected" : "Put the box around what is shown"))
    then = [](ViewerState& changing) { changing.clipping().fit_box(); };
  return changed;
}

/// The part of a line that lies before the eye, in the window's pixels.
std::optional<std::array<ImVec2, 2>> line_in_window(const Camera& camera, Eigen::Vector3d a, Eigen::Vector3d b,
                                                    float width, float height) {
  const auto depth = [&](const Eigen::Vector3d& p) { return (p - camera.eye()).dot(camera.forward()); };
  const double least = 1e-3 * camera.distance;
  if (!camera.orthographic) {
    if (depth(a) < depth(b)) std::swap(a, b);
    if (depth(a) <= least) return std::nullopt;
    if (depth(b) < least) b = a + (depth(a) - least) / (depth(a) - depth(b)) * (b - a);
  }
  std::array<ImVec2, 2> ends;
  for (const auto& [point, end] : {std::pair(&a, &ends[0]), {&b, &ends[1]}}) {
    const Eigen::Vector3d at = camera.project(*point, static_cast<double>(width) / static_cast<double>(height));
    *end = {0.5F * (1 + static_cast<float>(at.x())) * width, 0.5F * (1 - static_cast<float>(at.y())) * height};
  }
  return ends;
}

/// Clipping planes, or a box. Whether it changed the settings; what it does to the state itself follows in `then`.
bool edit_clip(Settings& s, const ViewerState& state, std::function<void(ViewerState&)>& then) {
  const Eigen::Vector3d forward = state.camera().forward();
  bool clip = s.clip.has_value(), box = s.clip_box.has_value();
  bool changed = false;
  if (checkbox("clip", clip, "Cut the half that faces the camera (X)")) {
    s.set_planes({});
    if (clip) s.clip = facing_plane(forward);
    changed = true;
  }
  second_column();
  if (checkbox("clip box", box, "Show only what is in a box, whose faces have handles to drag (Ctrl+X)"))
    then = [](ViewerState& changing) { changing.clipping().toggle_box(); };
  if (state.scene() == nullptr) return changed;
  if (s.clip) changed |= edit_planes(s, state.scene()->bounds, forward);
  if (s.clip_box) changed |= edit_box(s, state, then);
  return changed;
}

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

void draw_clip_handles(const ViewerState& state, float width, float height) {
  const auto& clip = state.settings().clip_box;
  if (!clip || !state.scene()) return;
  constexpr ImU32 kLine = IM_COL32(255, 199, 64, 200), kHalo = IM_COL32(10, 13, 15, 150);
  constexpr ImU32 kHandle = IM_COL32(255, 199, 64, 255), kHot = IM_COL32(255, 240, 200, 255),
                  kFixed = IM_COL32(150, 150, 150, 120);
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  const auto corners = box_corners(clip->box);
  for (unsigned i = 0; i != 8; ++i)
    for (const unsigned bit : {1U, 2U, 4U}) {
      if ((i & bit) != 0) continue;
      const auto ends = line_in_window(state.camera(), corners[i], corners[i | bit], width, height);
      if (!ends) continue;
      list.AddLine((*ends)[0], (*ends)[1], kHalo, em(3));
      list.AddLine((*ends)[0], (*ends)[1], kLine, em(1.2F));
    }
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const Resolution window{static_cast<int>(width), static_cast<int>(height)};
  std::size_t hot = kMaxPlanes;  // none
  if (!ImGui::GetIO().WantCaptureMouse)
    hot = handle_under(state.camera(), clip->box, {double{mouse.x}, double{mouse.y}, window}, double{em(1)})
              .value_or(kMaxPlanes);
  const auto handles = box_handles(state.camera(), clip->box, window);
  for (std::size_t face = 0; face != handles.size(); ++face) {
    if (!handles[face].seen) continue;
    const ImVec2 at{static_cast<float>(handles[face].place.x()), static_cast<float>(handles[face].place.y())};
    list.AddCircleFilled(at, em(hot == face ? 9 : 7.5F), kHalo);
    list.AddCircleFilled(at, em(hot == face ? 7.5F : 6), hot == face ? kHot : handles[face].movable ? kHandle : kFixed);
  }
}

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
