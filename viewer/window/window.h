// SPDX-License-Identifier: Apache-2.0
// The window: its events, its loop, and the image with the panels.
#pragma once

#include "cli/session.h"
#include "state/control_target.h"

namespace raylift::viewer {

/// Shows the files until the window is closed, and serves clients by the server that `make_server` makes; where it
/// fails, the window warns and goes on without one. `make_commands` makes what the command palette offers. Returns the
/// exit code. Throws Error(no_display) where no window with OpenGL 4.5 can be opened.
[[nodiscard]] int show_window(const ViewOptions& options, cli::Session& session, const ServerFactory& make_server,
                              const CommandsFactory& make_commands);

}  // namespace raylift::viewer
