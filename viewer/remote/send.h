// SPDX-License-Identifier: Apache-2.0
// raylift-view --send: asks a viewer that runs, and prints what it answers.
#pragma once

#include <string>
#include <vector>

#include "cli/session.h"
#include "remote/send_options.h"

namespace raylift::viewer {

/// Sends the verb with these words, waits for the answer, and prints it. Throws the Error that the viewer answers with;
/// io where none is reached; usage.
[[nodiscard]] int send(const SendOptions& options, const std::vector<std::string>& words, cli::Session& session);

}  // namespace raylift::viewer
