// SPDX-License-Identifier: Apache-2.0
// Drawing without a window: one PNG file per scene, or many frames to measure the speed.
#pragma once

#include "cli/session.h"
#include "offscreen_scene.h"

namespace raylift::viewer {

/// Draws each scene. Returns the exit code. Throws Error for failures that concern more than one file.
[[nodiscard]] int draw_offscreen(const ImageOptions& options, const OffscreenScenes& scenes, cli::Session& session);

}  // namespace raylift::viewer
