// SPDX-License-Identifier: Apache-2.0
// The configuration file of raylift-view: a JSON object whose keys are the names of options.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/cli11_forward.h"

namespace raylift::viewer {

/// The folder of configuration and bookmarks: $XDG_CONFIG_HOME/raylift, else ~/.config/raylift. Empty without a home.
[[nodiscard]] std::string config_folder();

/// The file that the command line names, or the default one; empty where there is none, or where the command line asks
/// for none, for the help or for the version, or has the option `instead`.
[[nodiscard]] std::string config_file(int argc, char** argv, const std::string& instead);

/// The configuration as arguments for `app`. Errors: io, malformed.
[[nodiscard]] std::vector<std::string> read_config(const std::string& path, const CLI::App& app);

}  // namespace raylift::viewer
