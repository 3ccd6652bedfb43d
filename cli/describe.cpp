// SPDX-License-Identifier: Apache-2.0
#include "describe.h"

#include <CLI/CLI.hpp>
#include <utility>

namespace raylift::cli {

void add_generate_option(CLI::App& program, std::string version, Manual manual) {
  const CLI::App* table = &program;
  program
      .add_option_function<std::string>(
          "--generate",
          [table, version = std::move(version), manual = std::move(manual)](const std::string& what) {
            std::string text = what == "man"    ? manual_page(*table, version, manual)
                               : what == "bash" ? bash_completion(*table)
                               : what == "zsh"  ? zsh_completion(*table)
                                                : fish_completion(*table);
            text.pop_back();  // who prints a version ends the line
            throw CLI::CallForVersion(text, 0);
          },
          "Print the manual page or a shell's completion")
      ->group("")
      ->type_name("WHAT")
      ->check(CLI::IsMember({"man", "bash", "zsh", "fish"}));
}

}  // namespace raylift::cli
