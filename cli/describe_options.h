// SPDX-License-Identifier: Apache-2.0
// A program's commands and options as plain values, for completions.
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

}  // namespace raylift::cli
