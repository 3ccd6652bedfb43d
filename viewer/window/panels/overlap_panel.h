// SPDX-License-Identifier: Apache-2.0
// The list of overlaps in the panel of the scene. Dear ImGui.
#pragma once

#include "state/viewer_state.h"

namespace raylift::viewer {

/// A button that searches, and the overlaps that are marked; a click on one shows it.
void draw_overlaps(ViewerState& state);

}  // namespace raylift::viewer
