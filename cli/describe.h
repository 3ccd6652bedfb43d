// SPDX-License-Identifier: Apache-2.0
// What a program's options say about themselves to others than its --help: its manual page, and the completions of
// three shells. Made from the table that the command line is parsed with, so they agree with the program.
#pragma once

#include <string>
#include <vector>

#include "cli11_forward.h"

namespace raylift::cli {

/// What a manual page says that no option does.
struct Manual {
  std::string see_also;  ///< "raylift(1), raylift-view(1)"
};

/// Roff, of section 1: the program, its commands and all their options. Groups of options that several commands share
/// are written once.
[[nodiscard]] std::string manual_page(const CLI::App& program, const std::string& version, const Manual& manual);

[[nodiscard]] std::string bash_completion(const CLI::App& program);
[[nodiscard]] std::string zsh_completion(const CLI::App& program);
[[nodiscard]] std::string fish_completion(const CLI::App& program);

/// Adds --generate=man|bash|zsh|fish, which prints one of them as --version prints the version. Not listed in the help:
/// it is for who packages the program.
void add_generate_option(CLI::App& program, std::string version, Manual manual);

}  // namespace raylift::cli
