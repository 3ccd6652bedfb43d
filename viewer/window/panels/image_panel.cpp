// SPDX-License-Identifier: Apache-2.0
// The panel with the image's settings, clipping planes and the clipping box among them, and the handles of the box. Its
// widgets edit a copy, which replaces the settings where one of them changed it.
#include <imgui.h>
#include <raylift/geometry/scene/eigen.h>

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>

#include "model/solids/clip_box.h"
#include "model/word_help.h"
#include "window/items/panel_items.h"

namespace raylift::viewer {
namespace {

bool edit_caps(Settings& s) {
  return checkbox("Caps", s.caps, "Close solids where planes cut them, with their colours");
}

/// Buttons that choose the plane which is moved, and how many there are.
bool edit_plane(Settings& s, const Bounds& bounds, const Eigen::Vector3d& forward) {
  bool changed = false;
  for (int axis = 0; axis != 3; ++axis) {
    if (button(std::array{"X", "Y", "Z"}[static_cast<std::size_t>(axis)],
               "Clip across this axis (Shift+X: the next)")) {
      s.clip = facing_plane(forward, axis);
      changed = true;
    }
    ImGui::SameLine();
  }
  if (button("Flip", "Cut the other half")) {
    s.clip = ClipPlane{-s.clip->normal, -s.clip->offset_in(bounds)};
    changed = true;
  }
  if (s.planes().size() < kMaxPlanes && button_beside("Add", "Add another plane; all of them hold")) {
    int axis = 0;
    s.clip->normal.cwiseAbs().maxCoeff(&axis);
    s.more_clips.push_back(*s.clip);
    s.clip = facing_plane(forward, (axis + 1) % 3);
    changed = true;
  }
  if (!s.more_clips.empty()) {
    if (button_beside("Remove", "Remove this plane, and go back to the one before")) {
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
  if (slider("Position", offset, static_cast<float>(-reach), static_cast<float>(reach), "%.6g mm",
             "Where the plane is, from the scene's centre ([ and ])")) {
    s.clip->offset = middle + static_cast<double>(offset);
    changed = true;
  }
  return changed;
}

bool edit_box(Settings& s, const ViewerState& state, std::function<void(ViewerState&)>& then) {
  bool changed = edit_caps(s);
  changed |= checkbox("Cut away the inside", s.clip_box->away, "Hide what is in the box, and not what is outside");
  Bounds box = s.clip_box->box;
  bool typed = point_field("From, mm", box.min, "The least corner of the box, mm: x, y, z; Enter sets it");
  typed |= point_field("To, mm", box.max, "The greatest corner of the box, mm: x, y, z; Enter sets it");
  if (typed && (to_eigen(box.min).array() < to_eigen(box.max).array()).all()) {
    s.clip_box->box = box;
    changed = true;
  }
  if (button("Fit", state.selection() ? "Put the box around what is selected" : "Put the box around what is shown"))
    then = [](ViewerState& changing) { changing.clipping().fit_box(); };
  return changed;
}

/// The part of a line that lies before the eye, in the window's pixels.
std::optional<std::array<ImVec2, 2>> line_in_window(const Camera& camera, Eigen::Vector3d a, Eigen::Vector3d b,
                                                    float width, float height) {
  if (!camera.cut_before_eye(a, b, 1e-3 * camera.distance)) return std::nullopt;
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
  if (checkbox("Clipping plane", clip, "Cut the half that faces the camera (X)")) {
    s.set_planes({});
    if (clip) s.clip = facing_plane(forward);
    changed = true;
  }
  if (checkbox("Clipping box", box, "Show only what is in a box, whose faces have handles to drag (Ctrl+X)"))
    then = [](ViewerState& changing) { changing.clipping().toggle_box(); };
  if (state.scene() == nullptr) return changed;
  if (s.clip) changed |= edit_planes(s, state.scene()->bounds, forward);
  if (s.clip_box) changed |= edit_box(s, state, then);
  return changed;
}

constexpr float kMaxShownDetail = 5, kMaxDetail = 100;  // pixels, of the slider and by typing
constexpr const char* kRaysShowSurfaces = "Rays show opaque surfaces: choose 'off' at ray casting to draw with this";

bool edit_colours(Settings& s, WindowLayout& layout) {
  bool changed = choose("Colour by", kColorNames, s.color, "What the colours of solids mean (C)", kColorWords);
  const bool rays = s.ray_cast != RayMode::off;
  const bool scale = rays ? s.ray_cast == RayMode::depth || s.ray_cast == RayMode::crossings : s.colors_hits();
  field_label("Scale");
  if (button("Map and range ...", "Change the map and the range of the legend's scale",
             scale ? nullptr : "Hits and first hits have a scale, and depth and crossings of rays"))
    layout.scale = WindowLayout::Scale::solids;
  changed |= choose("Enclosing solids", kShellsNames, s.shells,
                    "How solids that enclose nearly all others are drawn (V)", kShellsWords);
  return changed;
}

bool edit_surfaces(Settings& s) {
  const char* rays = s.ray_cast != RayMode::off ? kRaysShowSurfaces : nullptr;
  bool changed = checkbox("Smooth shading", s.smooth, "Smooth or flat shading (N)");
  changed |= checkbox("Wireframe", s.wireframe, "Lines instead of surfaces (M)", rays);
  changed |= checkbox("Edges", s.edges, "The triangles' edges over the surfaces (G)", rays);
  bool features = s.feature_edges;
  if (checkbox("Feature edges only", features,
               "Edges and wireframes only where faces meet at an angle, or end (Shift+G)", rays)) {
    s.set_feature_edges(features);
    changed = true;
  }
  changed |= checkbox("Mark back faces", s.back_faces, "Faces that are seen from inside in red stripes (B)");
  float percent = 100 * s.opacity;
  if (slider("Opacity", percent, 100 * static_cast<float>(kMinOpacity), 100, "%.0f %%", "Of all surfaces (T)", rays)) {
    s.opacity = percent / 100;
    changed = true;
  }
  changed |= slider("Level of detail", s.detail, 0, kMaxShownDetail, "%.2f px",
                    "The largest error of solids that are simplified because they appear small; 0 simplifies none",
                    s.ray_cast != RayMode::off ? "Rays meet the scene's own triangles" : nullptr, kMaxDetail);
  return changed;
}

void draw_view(ViewerState& state) {
  bool first = true;
  for (const auto& [label, view, help] : {std::tuple("Front", "front", "Look from the front (Shift+1)"),
                                          {"Right", "right", "Look from the right (Shift+3)"},
                                          {"Top", "top", "Look from the top (Shift+7)"},
                                          {"Isometric", "iso", "Look from a corner (Shift+0)"}}) {
    if (first ? button(label, help) : button_beside(label, help)) state.viewpoint().look(standard_view(view));
    first = false;
  }
  bool orthographic = state.camera().orthographic;
  if (checkbox("Orthographic", orthographic, "Parallel projection (Shift+5)"))
    state.viewpoint().set_orthographic(orthographic);
}

bool edit_overlays(Settings& s, WindowLayout& layout) {
  bool changed = checkbox("Axes", s.axes, "Show the axes (I)");
  changed |= checkbox("Scale bar", s.scale_bar, "Show the scale bar (I)");
  checkbox("Legend", layout.legend, "Show what the colours mean (J)");
  (void)choose("Theme", kThemeNames, layout.theme, "Dark or light panels and background; auto: as the desktop's");
  return changed;
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

void draw_image_settings(ViewerState& state, WindowLayout& layout, SectionScroll& scroll) {
  using Section = WindowLayout::Section;
  Settings s = state.settings();
  bool changed = false;
  std::function<void(ViewerState&)> then;
  const auto part = [&](const char* title, Section which, const auto& content) {
    const float top = ImGui::GetCursorPosY();
    if (section(title, layout.open(which))) content();
    const bool wanted = layout.reveal == which;
    if (wanted) layout.reveal.reset();
    scroll.end(static_cast<std::size_t>(which), top, wanted);
  };
  part("View", Section::view, [&] { draw_view(state); });
  part("Colour", Section::colour, [&] { changed |= edit_colours(s, layout); });
  part("Surfaces", Section::surfaces, [&] { changed |= edit_surfaces(s); });
  part("Clipping", Section::clipping, [&] { changed |= edit_clip(s, state, then); });
  part("Ray casting", Section::ray_casting, [&] {
    changed |= choose("Show", kRayModeNames, s.ray_cast, "Cast rays instead of rasterising, and what they show (K)",
                      kRayWords);
  });
  part("Overlays", Section::overlays, [&] { changed |= edit_overlays(s, layout); });
  if (changed) state.change_settings([&](Settings& settings) { settings = s; });
  if (then) then(state);
}

}  // namespace raylift::viewer
