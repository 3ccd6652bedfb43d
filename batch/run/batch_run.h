// SPDX-License-Identifier: Apache-2.0
// A batch from its inputs to its report.
#pragma once

#include "batch_options.h"
#include "cli/session.h"

namespace raylift::batch {

/// Does the batch and prints what it came to. Returns its exit code: by the order of the inputs, that of the first
/// scene that failed, else kNegative if any had that answer, else 0. Throws Error for what is no scene's fault.
int run_batch(cli::Session& session, const BatchOptions& options);

}  // namespace raylift::batch
