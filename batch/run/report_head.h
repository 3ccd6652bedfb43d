// SPDX-License-Identifier: Apache-2.0
// The first line of a report: the version and the options that its rows depend on.
#pragma once

#include <string>

#include "batch_options.h"
#include "cli/output.h"

namespace raylift::batch {

/// The head of this batch's report. It holds what a scene's figures depend on; limits, time and memory decide only
/// whether there are any, and may change between a batch and its --resume.
[[nodiscard]] cli::Json make_head(const BatchOptions& options);

/// Whether it is a head as a batch writes it.
[[nodiscard]] bool is_head(const cli::Json& line);

/// The folder that relative names in the report's rows are relative to.
[[nodiscard]] std::string folder_of(const cli::Json& head);

/// Throws Error(usage), with what differs, where rows under these heads are not of one batch. `report` is the one whose
/// head is `theirs`.
void check_head(const cli::Json& theirs, const cli::Json& ours, const std::string& report);

}  // namespace raylift::batch
