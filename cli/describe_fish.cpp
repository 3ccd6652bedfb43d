// SPDX-License-Identifier: Apache-2.0
// Completion of commands, options and files for fish.
#include "describe.h"

namespace raylift::cli {
namespace {

/// In single quotes, within which fish has two escapes.
std::string fish_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "'";
}

/// True while the command line has this command and none below it.
std::string condition(const DescribedProgram& program, const std::string& name) {
  std::string words = name;
  std::string text;
  for (std::size_t end; !words.empty(); words.erase(0, end == std::string::npos ? end : end + 1)) {
    end = words.find(' ');
    text += (text.empty() ? "" : "; and ") + ("__fish_seen_subcommand_from " + words.substr(0, end));
  }
  const auto below = program.below(name);
  if (!below.empty())
    text += (text.empty() ? "" : "; and ") + ("not __fish_seen_subcommand_from " + joined_words(below));
  return text;
}

std::string lines(const DescribedProgram& program, const DescribedCommand& command) {
  const std::string name = &command == &program.self ? "" : command.name;
  const std::string when = condition(program, name);
  const std::string start = "complete -c " + program.self.name + (when.empty() ? "" : " -n " + fish_quoted(when));
  std::string text;
  if (command.positionals.empty()) text += start + " -f\n";  // no files
  for (const DescribedCommand* below : program.below(name))
    text += start + " -a " + below->word + " -d " + fish_quoted(below->help) + '\n';
  for (const DescribedOption& option : command.options) {
    text += start;
    for (const std::string& one : option.names) text += one[1] == '-' ? " -l " + one.substr(2) : " -s " + one.substr(1);
    if (!option.value.empty()) text += takes_path(option) ? " -r -F" : " -x";
    if (!option.choices.empty()) text += " -a " + fish_quoted(joined(option.choices));
    text += " -d " + fish_quoted(option.help) + '\n';
  }
  return text;
}

}  // namespace

std::string fish_completion(const CLI::App& app) {
  const DescribedProgram program = described(app);
  std::string text = "# fish completion of " + program.self.name + ", made from its table of options\n";
  text += lines(program, program.self);
  for (const DescribedCommand& command : program.commands) text += lines(program, command);
  return text;
}

}  // namespace raylift::cli
