// SPDX-License-Identifier: Apache-2.0
// The table of verbs as an OpenRPC document, and as text for --help.
#pragma once

#include <string>

#include "cli/output.h"
#include "remote/verbs.h"

namespace raylift::viewer {

/// An OpenRPC document (open-rpc.org) with the JSON schema of each parameter, older names of parameters
/// ("x-aliases"), and the notifications ("x-notifications").
[[nodiscard]] cli::Json describe_verbs();
/// The text for --help: a paragraph for each verb.
[[nodiscard]] std::string verbs_help();

}  // namespace raylift::viewer
