// SPDX-License-Identifier: Apache-2.0
// The panels of the selected solid, or group of solids, and of measured distances and angles.
#include <fmt/format.h>
#include <imgui.h>
#include <raylift/geometry/optics/surface_between.h>

#include <array>
#include <functional>

#include "cli/text.h"
#include "geometry/src/optics/property_table.h"
#include "model/settings/measurement.h"
#include "model/word_help.h"
#include "window/items/panel_items.h"

namespace raylift::viewer {
namespace {

std::string with_unit(PropertyOf of, const std::string& key, const std::string& value) {
  const PropertyInfo* info = find_property(of, key);
  const std::string_view unit = info == nullptr ? std::string_view() : raylift::unit(info->quantity);
  return unit.empty() ? value : value + ' ' + std::string(unit);
}

/// The table over the wavelengths that it is given for, as one line and as a curve.
void draw_table(PropertyOf of, const OpticalTable& table) {
  const OpticalTable::Range all = table.range();
  const std::string range =
      all.least == all.most ? fmt::format("{:.5g}", all.least) : fmt::format("{:.5g} to {:.5g}", all.least, all.most);
  fact(table.key.c_str(),
       fmt::format("{}, {:.4g} to {:.4g} nm", with_unit(of, table.key, range), all.shortest_nm, all.longest_nm));
  if (all.least == all.most) return;
  std::array<float, 64> curve{};
  for (std::size_t i = 0; i != curve.size(); ++i)
    curve[i] =
        static_cast<float>(table.value(all.shortest_nm + (all.longest_nm - all.shortest_nm) * static_cast<double>(i) /
                                                             static_cast<double>(curve.size() - 1)));
  ImGui::PlotLines(("##" + table.key).c_str(), curve.data(), static_cast<int>(curve.size()), 0, nullptr,
                   static_cast<float>(all.least), static_cast<float>(all.most),
                   {ImGui::GetContentRegionAvail().x, em(28)});
}

void draw_properties(const char* id, PropertyOf of, const OpticalProperties& properties) {
  if (!begin_facts(id)) return;
  for (const OpticalTable& table : properties.tables) draw_table(of, table);
  for (const OpticalProperties::Constant& constant : properties.constants)
    fact(constant.key.c_str(), with_unit(of, constant.key, fmt::format("{:.6g}", constant.value)));
  ImGui::EndTable();
}

/// The optical properties of the material inside, and those of the surfaces: tables with their ranges and curves, and
/// constants.
void draw_optics(const Scene& scene, const SelectedSolids& selection) {
  const Optics& optics = scene.optics;
  if (selection.material < optics.materials.size() && !optics.materials[selection.material].empty() &&
      ImGui::TreeNode("Optics of the material")) {
    draw_properties("material optics", PropertyOf::material, optics.materials[selection.material]);
    ImGui::TreePop();
  }
  for (const auto& [title, surface] :
       {std::pair("Surface, entering", selection.surface_in),
        {"Surface, leaving", selection.surface_out == selection.surface_in ? kNone : selection.surface_out}})
    if (surface < optics.surfaces.size() && !optics.surfaces[surface].properties.empty() && ImGui::TreeNode(title)) {
      draw_properties(title, PropertyOf::surface, optics.surfaces[surface].properties);
      ImGui::TreePop();
    }
}

/// "Mirror, skin of the solid entered", and what that kind of surface is.
void surface_fact(const char* name, const std::string& value) {
  if (value.empty()) return;
  name_fact(name, value);
  const bool skin = value.find(", skin") != std::string::npos, border = value.find(", border") != std::string::npos;
  tip(explained(kSurfaceWords, skin ? "skin surface" : border ? "border surface" : "no surface"));
}

void draw_names(const SelectedSolids& s) {
  name_fact(s.is_one() ? "Solid" : s.is_set() ? "Name" : "Group", s.name);
  if (!s.is_set()) name_fact("Path", s.path);
  if (!s.is_one()) return;
  name_fact("Mesh", s.mesh);
  name_fact("Material inside", s.inside);
  name_fact("Material outside", s.outside);
  surface_fact("Surface, entering", s.entering);
  surface_fact("Surface, leaving", s.leaving);
  if (s.triangle) fact("Triangle", cli::grouped(*s.triangle));
  if (s.clicked) point_fact("Point, mm", s.position);
}

void draw_size(const ViewerState& state) {
  if (!state.selection().facts()) return fact("Size", "being computed ...");
  for (const auto& [name, value] : fact_lines(*state.selection().facts()))
    if (name != "solids" || !state.selection()->is_one()) fact(capital(name).c_str(), value);
}

/// The style of the first selected solid, for all of them.
void draw_style(ViewerState& state, const SelectedSolids& s) {
  if (s.solids.empty()) return;
  auto style = static_cast<Style>(state.solids()->styles()[s.solids.front()]);
  if (choose("Style", kStyleNames, style,
             "How the selection is drawn: by default as all, faintly, transparent, as lines, with edges", kStyleWords))
    state.appearance().set_style(style);
  if (style != Style::glass) return;
  const std::uint8_t own = state.solids()->opacities()[s.solids.front()];
  float percent = own == 0 ? 100 * state.settings().glass_opacity : static_cast<float>(own);
  if (slider("Opacity", percent, 100 * static_cast<float>(kMinOpacity), 100, "%.0f %%", "Of the selection"))
    state.appearance().slide_opacity(percent / 100);
  if (ImGui::IsItemDeactivatedAfterEdit()) state.appearance().end_slide();
  if (button("Apply to all glass", "This opacity for all solids that are glass now"))
    state.appearance().set_glass(percent / 100);
}

/// From a solid to the group below it, and back: what the button does, if it was pressed.
std::function<void()> draw_group_button(ViewerState& state, const SelectedSolids& s) {
  if (s.group != kNone) {
    const auto own = state.solids()->instances(s.group);
    if (own.empty()) return {};
    if (!button_beside("Without daughters", "Select this solid alone")) return {};
    return [&state, solid = own[0]] { state.selection().select(solid); };
  }
  if (s.is_set()) return {};
  const std::uint32_t node = state.scene()->instances[s.instance].node;
  if (node == kNone || state.solids()->children(node).empty()) return {};
  if (!button_beside("With daughters", "Select this solid with all solids below it in the tree")) return {};
  return [&state, node] { state.selection().select_group(node); };
}

std::function<void()> draw_buttons(ViewerState& state, const SelectedSolids& s) {
  if (button("Frame", "Frame the selection, and draw faintly what stands before it (F)"))
    state.viewpoint().focus(s.solids);
  if (button_beside("Hide", "Hide the selection (L); Ctrl+Z shows it again")) state.appearance().hide_selection(true);
  if (button_beside("Show only", "Hide all others; U shows all"))
    state.change_solids([&](Solids& solids) { solids.show_only(s.solids); });
  if (button_beside("Ghost others", "Draw all others faintly, or as before (Ctrl+G)"))
    state.appearance().ghost_others();
  if (button_beside("Measure", "Add the centre of the selection to the measurement; those of two have a distance (Y)"))
    state.measuring().add_centre(s);
  if (button_beside("Copy", "Copy name, path, box, area and volume as text (Ctrl+C)") && state.selection().facts())
    ImGui::SetClipboardText(state.selection().text().c_str());
  return draw_group_button(state, s);
}

}  // namespace

void draw_selection(ViewerState& state) {
  const SelectedSolids& s = *state.selection();
  const std::function<void()> next = draw_buttons(state, s);
  draw_style(state, s);
  edit_own_color(state, s);
  if (begin_facts("selected")) {
    draw_names(s);
    draw_size(state);
    ImGui::EndTable();
  }
  if (s.is_one()) draw_optics(*state.scene(), s);
  if (next) next();  // after the last use of `s`, which it changes
}

void draw_measured(ViewerState& state) {
  const std::vector<Eigen::Vector3d> points = state.settings().measured;
  if (!points.empty()) {
    if (button("Copy##measured", "Copy points, distances and the angle as text (Ctrl+C)"))
      ImGui::SetClipboardText(lines_text(measured_lines(points)).c_str());
    if (button_beside("Clear", "Remove the points, and go on")) state.measuring().set_points({});
    ImGui::SameLine();
  }
  if (button("End", "End measuring (Escape)")) state.measuring().set_active(false);
  if (begin_facts("measured")) {
    for (const auto& [name, value] : measured_lines(points)) fact(capital(name).c_str(), value);
    ImGui::EndTable();
  }
  if (!state.measuring().active() && points.size() == 1)
    wrapped("Select another solid, and press Measure for its centre; or begin to click on surfaces (Y).");
  if (state.measuring().active())
    wrapped(points.empty() || points.size() >= kMaxMeasured
                ? "Click on a surface, or with Shift on a solid for its centre: the first point."
            : points.size() == 1 ? "Click on a surface: the second point, for a distance."
                                 : "Click on a surface: the third point, for the angle.");
}

}  // namespace raylift::viewer
