// SPDX-License-Identifier: Apache-2.0
// The list of overlaps in the panel of the scene. Dear ImGui.
#include "window/panels/overlap_panel.h"

#include <fmt/format.h>
#include <imgui.h>

#include "cli/text.h"
#include "draw/overlay/overlay.h"
#include "window/items/panel_items.h"

namespace raylift::viewer {

void draw_overlaps(ViewerState& state) {
  if (!state.scene()) return;
  ImGui::Separator();
  ImGui::AlignTextToFramePadding();
  ImGui::TextDisabled("Overlaps");
  ImGui::SameLine();
  if (state.wants_overlaps()) return ImGui::TextDisabled("Searching ...");
  if (button("Find", "Search for solids that share space, as 'raylift check' does, and mark them"))
    state.want_overlaps();
  if (!state.overlaps()) return;
  const OverlapMarks& marks = *state.overlaps();
  if (marks.empty()) return ImGui::TextDisabled("None");
  if (button_beside("Clear", "Remove the marks")) return state.set_overlaps(nullptr);
  std::size_t chosen = marks.size();
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(marks.size()));
  while (clipper.Step())
    for (int i = clipper.DisplayStart; i != clipper.DisplayEnd; ++i) {
      const OverlapMark& mark = marks[static_cast<std::size_t>(i)];
      ImGui::PushID(i);
      const std::string row =
          fmt::format("{}: {}, {}", i + 1, measured_length_text(mark.depth), cli::printable(mark.words));
      if (ImGui::Selectable(row.c_str())) chosen = static_cast<std::size_t>(i);
      tip(mark.pairs > 1 ? row + fmt::format("; {} pairs are alike", cli::grouped(mark.pairs)) : row);
      ImGui::PopID();
    }
  if (chosen != marks.size()) state.show_overlap(chosen);
}

}  // namespace raylift::viewer
