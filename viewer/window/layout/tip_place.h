// SPDX-License-Identifier: Apache-2.0
// Where the tooltip of a control is drawn. A pure function; no ImGui.
#pragma once

#include "window/layout/dock_layout.h"

namespace raylift::viewer {

struct TipWish {
  Rectangle item, panel;     ///< the control, and the panel that it is in
  float wide = 0, high = 0;  ///< of the tooltip
  float window_w = 0, window_h = 0;
  float gap = 0;
};

/// Beside the panel, towards the middle of the window, or else on the other side; where neither has room, below the
/// control, or else above it. It lies in the window, and never on the control.
[[nodiscard]] Rectangle tip_place(const TipWish& wish);

}  // namespace raylift::viewer
