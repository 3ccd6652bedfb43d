// SPDX-License-Identifier: Apache-2.0
// What the cursor shows over the image: what lies under it, where a measured point would snap to, and the end of the
// gizmo's axis that a click takes. Dear ImGui; no window.
#pragma once

#include "cli/camera.h"
#include "draw/overlay/overlay.h"
#include "state/shown/hover.h"
#include "state/shown/snapping.h"

namespace raylift::viewer {

/// Beside the cursor, within the window.
void draw_hover(const HoverText& what, float x, float y, float width, float height);
/// A square around a vertex, a diamond around a point of an edge, a circle around one of a face.
void draw_snap_mark(const SnapPoint& snap, const Camera& camera, float width, float height);
void draw_gizmo_highlight(const GizmoEnd& end, const Resolution& image, float width, float height);

}  // namespace raylift::viewer
