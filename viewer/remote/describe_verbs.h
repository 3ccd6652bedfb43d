// SPDX-License-Identifier: Apache-2.0
// The table of verbs as an OpenRPC document, as text for --help, and for the docs.
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
/// The table in Markdown, for docs/viewer.md.
[[nodiscard]] std::string verbs_page();

}  // namespace raylift::viewer
