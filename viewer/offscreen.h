// SPDX-License-Identifier: Apache-2.0
// Pictures without a window: each scene into a PNG file, or many frames for their speed.
#pragma once

#include "cli/session.h"
#include "view_options.h"

namespace raylift::viewer {

/// Draws each of the files as options say. Returns the exit code. Throws Error for what concerns no file alone.
[[nodiscard]] int draw_offscreen(const ViewOptions& options, cli::Session& session);

}  // namespace raylift::viewer
