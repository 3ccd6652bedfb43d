// SPDX-License-Identifier: Apache-2.0
// The commands of the program raylift, one file for each. A command adds itself to the command line; when it is given,
// it sets what is to be run.
#pragma once

#include <functional>

#include "batch/run/batch_hooks.h"
#include "cli/cli11_forward.h"
#include "cli/session.h"

namespace raylift::batch {

/// What the command line asked for. Returns the exit code; throws Error.
using CommandRun = std::function<int(cli::Session&)>;

void add_info(CLI::App& program, cli::GeneralOptions& general, CommandRun& run);
void add_optics(CLI::App& program, cli::GeneralOptions& general, CommandRun& run);
void add_convert(CLI::App& program, cli::GeneralOptions& general, CommandRun& run);
void add_check(CLI::App& program, cli::GeneralOptions& general, CommandRun& run);
void add_upload(CLI::App& program, cli::GeneralOptions& general, CommandRun& run);
void add_trace(CLI::App& program, cli::GeneralOptions& general, CommandRun& run);
void add_photons(CLI::App& program, cli::GeneralOptions& general, CommandRun& run);
void add_serve(CLI::App& program, cli::GeneralOptions& general, CommandRun& run);
void add_compare(CLI::App& program, cli::GeneralOptions& general, CommandRun& run);
void add_batch(CLI::App& program, cli::GeneralOptions& general, CommandRun& run, const BatchHooks& hooks);
void add_cache(CLI::App& program, cli::GeneralOptions& general, CommandRun& run);
void add_devices(CLI::App& program, cli::GeneralOptions& general, CommandRun& run);

}  // namespace raylift::batch
