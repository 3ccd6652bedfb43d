// SPDX-License-Identifier: Apache-2.0
// The window: its events, its loop, and the image with the panels.
#pragma once

#include "cli/session.h"
#include "state/view_options.h"

namespace raylift::viewer {

/// Shows the files until the window is closed. Returns the exit code. Throws Error(no_display) where no window, or no
/// OpenGL 4.5 for it, is to be had.
[[nodiscard]] int show_window(const ViewOptions& options, cli::Session& session);

}  // namespace raylift::viewer
