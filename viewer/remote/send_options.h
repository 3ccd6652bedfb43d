// SPDX-License-Identifier: Apache-2.0
// The options by which raylift-view sends a verb to a running viewer.
#pragma once

#include <string>

#include "cli/cli11_forward.h"

namespace raylift::viewer {

struct SendOptions {
  std::string verb;  ///< empty: none is sent
  std::string to;    ///< a process's number, or the path of a socket; empty: the newest viewer
  bool json = false;
  bool describe = false;  ///< print the verbs' schema
};

void add_send_options(CLI::App& app, SendOptions& options);

}  // namespace raylift::viewer
