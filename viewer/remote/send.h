// SPDX-License-Identifier: Apache-2.0
// raylift-view --send: sends a verb to a running viewer, and prints the answer.
#pragma once

#include <string>
#include <vector>

#include "cli/session.h"
#include "remote/send_options.h"

namespace raylift::viewer {

/// Sends the verb with these words, waits for the answer, and prints it. Throws the Error of the answer; Error(io)
/// where no viewer is reached; Error(usage).
[[nodiscard]] int send(const SendOptions& options, const std::vector<std::string>& words, cli::Session& session);

}  // namespace raylift::viewer
