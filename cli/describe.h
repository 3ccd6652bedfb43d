// SPDX-License-Identifier: Apache-2.0
// Completions of three shells, made from the table of options that parses the command line; and for them a program's
// commands and options as plain values.
#pragma once

#include <string>
#include <vector>

#include "cli11_forward.h"

namespace raylift::cli {

struct DescribedOption {
  std::vector<std::string> names;    ///< with hyphens, short ones first; empty for a positional
  std::string value;                 ///< its type, "BYTES"; empty for a flag
  std::vector<std::string> choices;  ///< of the value, where a CLI::IsMember or CLI::CheckedTransformer has them
  std::string help;
  bool several = false;  ///< takes several values
};

struct DescribedCommand {
  std::string name;    ///< of the program, or of a command of it: "upload", "cache list"
  std::string word;    ///< its last word
  std::string parent;  ///< the name without that: "", "cache"
  std::string help;
  std::vector<DescribedOption> options;      ///< those that the help lists
  std::vector<DescribedOption> positionals;  ///< value is the name shown
};

struct DescribedProgram {
  DescribedCommand self;
  std::vector<DescribedCommand> commands;  ///< each followed by its own commands

  /// The commands of the program (parent ""), or of a command.
  [[nodiscard]] std::vector<const DescribedCommand*> below(const std::string& parent) const;
};

[[nodiscard]] DescribedProgram described(const CLI::App& program);

/// Whether the option's type is a file or a folder.
[[nodiscard]] bool takes_path(const DescribedOption& option);

/// The name of the shell function: no hyphens.
[[nodiscard]] std::string identifier(std::string name);

/// Separated by blanks.
[[nodiscard]] std::string joined(const std::vector<std::string>& words);

/// The last words of the commands.
[[nodiscard]] std::string joined_words(const std::vector<const DescribedCommand*>& commands);

[[nodiscard]] std::string bash_completion(const CLI::App& program);
[[nodiscard]] std::string zsh_completion(const CLI::App& program);
[[nodiscard]] std::string fish_completion(const CLI::App& program);

/// Adds --generate=bash|zsh|fish, which prints one of them as --version prints the version. The help does not list it:
/// packaging uses it.
void add_generate_option(CLI::App& program);

}  // namespace raylift::cli
