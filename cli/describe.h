// SPDX-License-Identifier: Apache-2.0
// Completions of three shells, made from the table of options that parses the command line.
#pragma once

#include <string>

#include "cli11_forward.h"

namespace raylift::cli {

[[nodiscard]] std::string bash_completion(const CLI::App& program);
[[nodiscard]] std::string zsh_completion(const CLI::App& program);
[[nodiscard]] std::string fish_completion(const CLI::App& program);

/// Adds --generate=bash|zsh|fish, which prints one of them as --version prints the version. The help does not list it:
/// packaging uses it.
void add_generate_option(CLI::App& program);

}  // namespace raylift::cli
