// SPDX-License-Identifier: Apache-2.0
// The panel of measured distances and angles.
#include <imgui.h>

#include <algorithm>

#include "model/measurement.h"
#include "window/panel_items.h"

namespace raylift::viewer {

void draw_measured(ViewerState& state, float left, float width, float height) {
  const std::vector<Eigen::Vector3d> points = state.settings().measured;
  if (begin_lower_panel("Measured", kMeasuredWidth, left, width, height)) {
    if (!points.empty()) {
      if (button("copy##measured", "Copy points, distances and the angle as text (Ctrl+C)"))
        ImGui::SetClipboardText(lines_text(measured_lines(points)).c_str());
      ImGui::SameLine();
      if (button("clear", "Remove the points, and go on")) state.measuring().set_points({});
      ImGui::SameLine();
    }
    if (button("end", "End measuring (Escape)")) state.measuring().set_active(false);
    if (begin_facts("measured")) {
      for (const auto& [name, value] : measured_lines(points)) fact(name.c_str(), value);
      ImGui::EndTable();
    }
    if (state.measuring().active())
      wrapped(points.empty() || points.size() >= kMaxMeasured ? "Click on a surface: the first point."
              : points.size() == 1                            ? "Click on a surface: the second point, for a distance."
                                                              : "Click on a surface: the third point, for the angle.");
  }
  ImGui::End();
}

}  // namespace raylift::viewer
