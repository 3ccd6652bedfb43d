// SPDX-License-Identifier: Apache-2.0
#include "describe.h"

#include <CLI/CLI.hpp>

namespace raylift::cli {

void add_generate_option(CLI::App& program) {
  program
      .add_option_function<std::string>(
          "--generate",
          [table = &program](const std::string& shell) {
            std::string text = shell == "bash"  ? bash_completion(*table)
                               : shell == "zsh" ? zsh_completion(*table)
                                                : fish_completion(*table);
            text.pop_back();  // printing a version adds the line's end
            throw CLI::CallForVersion(text, 0);
          },
          "Print a shell's completion")
      ->group("")
      ->type_name("SHELL")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
}

}  // namespace raylift::cli
