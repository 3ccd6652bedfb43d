// SPDX-License-Identifier: Apache-2.0
// The configuration file of raylift-view: a JSON object whose keys are the names of options.
#pragma once

#include <string>
#include <vector>

#include "cli/cli11_forward.h"

namespace raylift::viewer {

/// The folder of configuration and bookmarks: $XDG_CONFIG_HOME/raylift, else ~/.config/raylift. Empty without a home.
[[nodiscard]] std::string config_folder();

/// The file that the command line names, or the default file. Empty where it does not exist, and for --no-config,
/// --help,
/// --version and the option `instead`.
[[nodiscard]] std::string config_file(int argc, char** argv, const std::string& instead);

/// The configuration as arguments for `app`. Errors: io, malformed.
[[nodiscard]] std::vector<std::string> read_config(const std::string& path, const CLI::App& app);

}  // namespace raylift::viewer
