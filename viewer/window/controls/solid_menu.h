// SPDX-License-Identifier: Apache-2.0
// The context menu of a solid: rows with the actions of controls and panels.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "window/controls/controls.h"

namespace raylift::viewer {

struct MenuRow {
  std::string_view label;
  std::string_view key;  ///< of the control that it calls; empty: none has a key
  std::function<void(const ControlTarget&)> act;
  bool chosen = false;  ///< has a mark
  bool first = false;   ///< of a group of rows
};

/// The rows for the selection; none where nothing is selected.
[[nodiscard]] std::vector<MenuRow> solid_menu(const ViewerState& state);

/// Opens the menu of the solid under the cursor, which is selected unless it is part of the selection.
void open_solid_menu(const ControlTarget& to, const ControlEvent& event);

/// Draws the menu where it is open, within an ImGui frame.
void draw_solid_menu(const ControlTarget& to);

}  // namespace raylift::viewer
