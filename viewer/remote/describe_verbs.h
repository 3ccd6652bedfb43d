// SPDX-License-Identifier: Apache-2.0
// The table of verbs for those who read it: programs, people at a terminal, and the pages.
#pragma once

#include <string>

#include "cli/output.h"
#include "remote/verbs.h"

namespace raylift::viewer {

/// An OpenRPC document (open-rpc.org) with the JSON schema of each parameter; "notifications" has those.
[[nodiscard]] cli::Json describe_verbs();
/// For --help: a paragraph for each verb.
[[nodiscard]] std::string verbs_help();
/// For docs/viewer.md: a table in Markdown.
[[nodiscard]] std::string verbs_page();

}  // namespace raylift::viewer
