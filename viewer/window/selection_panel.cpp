// SPDX-License-Identifier: Apache-2.0
// The panel of the selected solid, or group of solids.
#include <imgui.h>

#include <algorithm>
#include <functional>

#include "cli/text.h"
#include "window/panel_items.h"

namespace raylift::viewer {
namespace {

void draw_names(const SelectedSolids& s) {
  fact(s.group == kNone ? "solid" : "group", s.name);
  fact("path", s.path);
  if (s.group != kNone) return;
  fact("mesh", s.mesh);
  fact("inside", s.inside);
  fact("outside", s.outside);
  if (!s.entering.empty()) fact("way in", s.entering);
  if (!s.leaving.empty()) fact("way out", s.leaving);
  if (s.triangle) fact("triangle", cli::grouped(*s.triangle));
  point_fact(s.clicked ? "point, mm" : "centre, mm", s.position);
}

void draw_size(const ViewerState& state) {
  if (!state.selection().facts()) return fact("size", "being worked out ...");
  for (const auto& [name, value] : fact_lines(*state.selection().facts()))
    if (name != "solids" || state.selection()->group != kNone) fact(name.c_str(), value);
}

/// The style of the first selected solid, for all of them.
void draw_style(ViewerState& state, const SelectedSolids& s) {
  if (s.solids.empty()) return;
  auto style = static_cast<Style>(state.solids()->styles()[s.solids.front()]);
  ImGui::SetNextItemWidth(em(110));
  if (choose("style", kStyleNames, style,
             "How what is selected is drawn: as all, faintly, transparent, as lines, with edges"))
    state.appearance().set_style(style);
  if (style != Style::glass) return;
  ImGui::SameLine();
  ImGui::SetNextItemWidth(em(110));
  const std::uint8_t own = state.solids()->opacities()[s.solids.front()];
  float opacity = own == 0 ? state.settings().glass_opacity : static_cast<float>(own) / 100;
  if (slider("opacity", opacity, static_cast<float>(kMinOpacity), 1, "%.2f", "Of what is selected"))
    state.appearance().slide_opacity(opacity);
  if (ImGui::IsItemDeactivatedAfterEdit()) state.appearance().end_slide();
  if (button_beside("all glass", "This opacity for all solids that are glass now"))
    state.appearance().set_glass(opacity);
}

/// From a solid to the group below it, and back: what the button does, if it was pressed.
std::function<void()> draw_group_button(ViewerState& state, const SelectedSolids& s) {
  if (s.group != kNone) {
    const auto own = state.solids()->instances(s.group);
    if (own.empty()) return {};
    if (!button_beside("by itself", "Select this solid without those below it")) return {};
    return [&state, solid = own[0]] { state.selection().select(solid); };
  }
  const std::uint32_t node = state.scene()->instances[s.instance].node;
  if (node == kNone || state.solids()->children(node).empty()) return {};
  if (!button_beside("and below", "Select this solid with all solids below it")) return {};
  return [&state, node] { state.selection().select_group(node); };
}

std::function<void()> draw_buttons(ViewerState& state, const SelectedSolids& s) {
  if (button("frame", "Frame what is selected, and draw faintly what stands before it (F)"))
    state.viewpoint().focus(s.solids);
  if (button_beside("hide", "Hide what is selected (L); Ctrl+Z shows it again"))
    state.change_solids([&](Solids& solids) { solids.set_visible(s.solids, false); });
  if (button_beside("only this", "Hide all others; U shows all"))
    state.change_solids([&](Solids& solids) { solids.show_only(s.solids); });
  if (button_beside("ghost others", "Draw all others faintly, or as before (Ctrl+G)"))
    state.appearance().ghost_others();
  if (button_beside("copy", "Copy name, path, box, area and volume as text (Ctrl+C)") && state.selection().facts())
    ImGui::SetClipboardText(state.selection().text().c_str());
  return draw_group_button(state, s);
}

}  // namespace

void draw_selection(ViewerState& state, float left, float width, float height) {
  const SelectedSolids& s = *state.selection();
  std::function<void()> next;
  if (begin_lower_panel("Selected", kSelectionWidth, left, width, height)) {
    next = draw_buttons(state, s);  // first: they don't scroll away
    draw_style(state, s);
    if (begin_facts("selected")) {
      draw_names(s);
      draw_size(state);
      ImGui::EndTable();
    }
    if (s.group == kNone) draw_optics(*state.scene(), s);
  }
  ImGui::End();
  if (next) next();  // after the last use of `s`, which it changes
}

}  // namespace raylift::viewer
