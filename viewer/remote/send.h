// SPDX-License-Identifier: Apache-2.0
// raylift-view --send: sends a verb to a running viewer, and prints the answer.
#pragma once

#include <string>
#include <vector>

#include "cli/cli11_forward.h"
#include "cli/session.h"

namespace raylift::viewer {

/// The options by which raylift-view sends a verb to a running viewer.
struct SendOptions {
  std::string verb;      ///< empty: none is sent
  std::string to;        ///< a process's number, or the path of a socket; empty: the newest viewer
  double seconds = 300;  ///< that the answer may take; 0: no limit
  bool json = false;
  bool describe = false;  ///< print the verbs' schema
};

void add_send_options(CLI::App& app, SendOptions& options);

/// Sends the verb with these words, waits for the answer, and prints it. Throws the Error of the answer; Error(io)
/// where no viewer is reached; Error(limit) where it does not answer in time; Error(usage).
[[nodiscard]] int send(const SendOptions& options, const std::vector<std::string>& words, cli::Session& session);

}  // namespace raylift::viewer
