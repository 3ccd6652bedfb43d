// SPDX-License-Identifier: Apache-2.0
// Completion of commands, options and files for zsh.
#include "describe.h"

namespace raylift::cli {
namespace {

/// In single quotes.
std::string zsh_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c == '\n' ? ' ' : c;
  }
  return out + "'";
}

/// Text in a specification of _arguments: brackets and colons are special there.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string arguments(const DescribedCommand& command) {
  std::string text = "      _arguments -s -S";
  for (const DescribedOption& option : command.options) {
    std::string value;
    if (!option.value.empty())
      value = ":" + escaped(option.value) + ":" +
              (takes_path(option)       ? "_files"
               : option.choices.empty() ? " "
                                        : "(" + escaped(joined(option.choices)) + ")");
    for (const std::string& name : option.names) {
      const bool is_long = name.size() > 1 && name[1] == '-';
      const std::string separator = value.empty() ? "" : is_long ? "=" : "+";
      const std::string others = option.several ? "*" : "(" + joined(option.names) + ")";
      text += " \\\n        " + zsh_quoted(others + name + separator + "[" + escaped(option.help) + "]" + value);
    }
  }
  if (!command.positionals.empty())
    text += " \\\n        '*:" + escaped(command.positionals.front().value) + ":_files'";
  return text + '\n';
}

std::string zsh_case(const std::string& pattern, const DescribedProgram& program, const DescribedCommand& command) {
  std::string text = "    " + pattern + ")\n";
  const auto below = program.below(&command == &program.self ? "" : command.name);
  if (!below.empty()) {
    text += "      commands=(\n";
    for (const DescribedCommand* one : below)
      text += "        " + zsh_quoted(escaped(one->word) + ":" + one->help) + '\n';
    text += "      )\n      [[ $PREFIX == -* ]] || _describe command commands";
    text += command.positionals.empty() ? " && return\n" : "\n";  // files too
  }
  return text + arguments(command) + "      ;;\n";
}

}  // namespace

std::string zsh_completion(const CLI::App& app) {
  const DescribedProgram program = described(app);
  const std::string function = identifier(program.self.name);
  std::string text = "#compdef " + program.self.name + "\n# Made from the program's table of options.\n" + function +
                     "() {\n"
                     "  local -a commands\n"
                     "  local i last=1 command=''\n";
  if (!program.commands.empty()) {
    text +=
        "  for ((i = 2; i < CURRENT; ++i)); do\n"
        "    case \"$command${command:+ }${words[i]}\" in\n      ";
    for (const DescribedCommand& command : program.commands)
      text += (&command == &program.commands.front() ? "(\"" : "|\"") + command.name + "\"";
    text +=
        ") command+=\"${command:+ }${words[i]}\"; last=$i ;;\n"
        "    esac\n"
        "  done\n"
        "  words=(\"${(@)words[last,-1]}\")\n"
        "  (( CURRENT -= last - 1 ))\n";
  }
  text += "  case $command in\n";
  for (const DescribedCommand& command : program.commands)
    text += zsh_case("(\"" + command.name + "\"", program, command);
  return text + zsh_case("(*", program, program.self) + "  esac\n}\n" + function + " \"$@\"\n";
}

}  // namespace raylift::cli
