// SPDX-License-Identifier: Apache-2.0
// One report out of those of all shards of a batch.
#pragma once

#include <string>
#include <vector>

#include "cli/session.h"

namespace raylift::batch {

/// Writes the rows of the shards' reports to a new report, in the order of the batch's inputs, as a batch without
/// shards has them with --sort, and prints what the batch came to. Returns the batch's exit code. Throws Error: usage
/// where the reports are not those of all shards of one batch, each complete and named once; malformed where one is no
/// report of a shard; io.
int merge_reports(cli::Session& session, const std::vector<std::string>& reports, const std::string& merged);

}  // namespace raylift::batch
