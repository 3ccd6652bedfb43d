// SPDX-License-Identifier: Apache-2.0
#include "window/panels/surface_list.h"

#include <imgui.h>

#include <algorithm>
#include <string>

#include "cli/text.h"
#include "model/colors/palette.h"
#include "model/word_help.h"
#include "window/items/panel_items.h"

namespace raylift::viewer {

void SurfaceList::draw(ViewerState& state) {
  if (!state.scene()) {
    ImGui::TextDisabled("No scene");
    return;
  }
  if (listed_ != state.scene()) {
    listed_ = state.scene();
    all_ = boundaries(*listed_);
  }
  if (all_.empty()) return wrapped("No solid lies in another, so there is no boundary between materials.");
  (void)search_field("##boundary", "materials or surface", search_,
                     "Find boundaries by words of their materials and surfaces, such as: glass vacuum");
  bool coloured = state.settings().color == ColorBy::surface;
  if (checkbox("Colour solids by surface", coloured, "Give each optical surface its own colour; grey: none"))
    state.change_settings([&](Settings& s) { s.color = coloured ? ColorBy::surface : ColorBy::material; });
  const WordQuery query(search_.data());
  std::size_t shown = 0;
  for (const Boundary& one : all_) {
    if (!query.empty() && !fits(query, *listed_, one)) continue;
    ImGui::PushID(static_cast<int>(&one - all_.data()));
    draw_row(state, one);
    ImGui::PopID();
    ++shown;
  }
  if (shown == 0) wrapped("No boundary between materials has these words.");
}

/// Two lines: the surface, and the materials that it is between. A click selects the solids.
void SurfaceList::draw_row(ViewerState& state, const Boundary& boundary) {
  const Scene& scene = *listed_;
  const ImGuiStyle& style = ImGui::GetStyle();
  const float line = ImGui::GetTextLineHeight(), side = ImGui::GetFontSize();
  const bool selected = state.selection() && state.selection()->solids == boundary.solids;
  const ImGuiCol quiet = selected ? ImGuiCol_Text : ImGuiCol_TextDisabled;  // readable on the chosen row
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float right = at.x + ImGui::GetContentRegionAvail().x;
  const bool clicked = ImGui::Selectable("##boundary", selected, 0, {0, 2 * line + 2 * style.ItemSpacing.y});
  const std::string surface = cli::printable(surface_text(scene, boundary));
  const std::string materials = cli::printable(materials_text(scene, boundary));
  const std::string count =
      cli::counted(boundary.solids.size(), "solid", "solids") +
      (boundary.triangles == 0 ? "" : ", " + cli::counted(boundary.triangles, "triangle", "triangles"));
  const std::string_view kind = boundary.surface == kNone ? "no surface"
                                : boundary.border         ? "border surface"
                                                          : "skin surface";
  tip(surface + " " + materials + ": " + count + ". Click to select these solids\n" + explained(kSurfaceWords, kind));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  // A colour has one meaning: the squares are there while solids have these colours.
  const bool coloured = state.settings().color == ColorBy::surface;
  if (coloured) {
    const ImU32 color = packed(boundary.surface == kNone ? kNoMaterialColor : distinct_color(boundary.surface));
    list.AddRectFilled({at.x, at.y + 1}, {at.x + side, at.y + side + 1}, color, 2);
    list.AddRect({at.x, at.y + 1}, {at.x + side, at.y + side + 1}, ImGui::GetColorU32(ImGuiCol_Text, 0.5F), 2);
  }
  const float left = at.x + (coloured ? side + style.ItemSpacing.x : 0);
  list.PushClipRect(at, {right, at.y + 2 * line + 2 * style.ItemSpacing.y}, true);
  list.AddText({left, at.y}, ImGui::GetColorU32(boundary.surface == kNone ? quiet : ImGuiCol_Text), surface.c_str());
  const std::string number = cli::grouped(boundary.solids.size());
  list.AddText({right - ImGui::CalcTextSize(number.c_str()).x, at.y}, ImGui::GetColorU32(quiet), number.c_str());
  list.AddText({left, at.y + line + style.ItemSpacing.y}, ImGui::GetColorU32(ImGuiCol_Text), materials.c_str());
  list.PopClipRect();
  if (clicked)
    selected ? state.selection().select(std::nullopt)
             : state.selection().select_all(boundary.solids, surface + " " + materials);
}

}  // namespace raylift::viewer
