// SPDX-License-Identifier: Apache-2.0
// The program raylift, without its main().
#pragma once

#include "batch/run/batch_hooks.h"

namespace raylift::batch {

/// Runs a command line of raylift. Returns the exit code; errors are printed.
[[nodiscard]] int run_raylift(int argc, char** argv, const BatchHooks& hooks = {});

}  // namespace raylift::batch
