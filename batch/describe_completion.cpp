// SPDX-License-Identifier: Apache-2.0
// Completions of commands, options and files for bash, zsh and fish.
#include <algorithm>

#include "describe.h"
#include "describe_options.h"

namespace raylift::batch {
namespace {

bool takes_path(const DescribedOption& option) {
  for (const char* type : {"FILE", "FOLDER", "DIR", "PATH", "TEXT:FILE", "TEXT:PATH"})
    if (option.value == type) return true;
  return option.names.end() != std::find(option.names.begin(), option.names.end(), "--output");
}

/// What a shell calls the function: no hyphens.
std::string identifier(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return "_" + name;
}

/// In single quotes, for a POSIX shell.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c == '\n' ? ' ' : c;
  }
  return out + "'";
}

/// Fish knows escapes within single quotes.
std::string fish_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "'";
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// Separated by blanks; `with_values`: of those whose value no file is.
std::string option_names(const DescribedCommand& command, bool with_values) {
  std::vector<std::string> names;
  for (const DescribedOption& option : command.options)
    if (!with_values || (!option.value.empty() && !takes_path(option)))
      names.insert(names.end(), option.names.begin(), option.names.end());
  return joined(names);
}

std::string bash_case(const std::string& pattern, const DescribedCommand& command) {
  std::string text = "    " + pattern + ")\n      options=\"" + option_names(command, false) + "\"\n      valued=\" " +
                     option_names(command, true) + " \"\n      case $previous in\n";
  for (const DescribedOption& option : command.options) {
    if (option.choices.empty()) continue;
    std::string names;
    for (const std::string& name : option.names) names += (names.empty() ? "" : "|") + name;
    text += "        " + names + ") choices=\"" + joined(option.choices) + "\" ;;\n";
  }
  return text + "        *) ;;\n      esac\n      ;;\n";
}

/// Text in a specification of _arguments: brackets and colons have a meaning there.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_arguments(const DescribedCommand& command, const std::string& indent) {
  std::string text = indent + "_arguments -s -S";
  for (const DescribedOption& option : command.options) {
    std::string value;
    if (!option.value.empty())
      value = ":" + zsh_text(option.value) + ":" +
              (takes_path(option)       ? "_files"
               : option.choices.empty() ? " "
                                        : "(" + joined(option.choices) + ")");
    std::string all;
    for (const std::string& name : option.names) all += (all.empty() ? "" : " ") + name;
    for (const std::string& name : option.names) {
      const bool is_long = name.size() > 1 && name[1] == '-';
      const std::string separator = value.empty() ? "" : is_long ? "=" : "+";
      const std::string spec =
          (option.several ? "*" : "(" + all + ")") + name + separator + "[" + zsh_text(option.help) + "]" + value;
      text += " \\\n" + indent + "  " + quoted(spec);
    }
  }
  if (!command.positionals.empty())
    text += " \\\n" + indent + "  '*:" + zsh_text(command.positionals.front().value) + ":_files'";
  return text + '\n';
}

std::string fish_options(const std::string& program, const DescribedCommand& command, const std::string& condition) {
  std::string text;
  for (const DescribedOption& option : command.options) {
    text += "complete -c " + program + (condition.empty() ? "" : " -n " + fish_quoted(condition));
    for (const std::string& name : option.names)
      text += name[1] == '-' ? " -l " + name.substr(2) : " -s " + name.substr(1);
    if (!option.value.empty()) text += takes_path(option) ? " -r -F" : " -x";
    if (!option.choices.empty()) text += " -a " + fish_quoted(joined(option.choices));
    text += " -d " + fish_quoted(option.help) + '\n';
  }
  return text;
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  const DescribedProgram program = described(app);
  const std::string function = identifier(program.self.name);
  std::string names;
  for (const DescribedCommand& command : program.commands) names += (names.empty() ? "" : " ") + command.name;

  std::string text = "# bash completion of " + program.self.name + ", made from its table of options\n" + function +
                     "() {\n"
                     "  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
                     "  local command='' options valued choices='' i\n";
  if (!names.empty())
    text +=
        "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
        "    case \" " +
        names +
        " \" in\n"
        "      *\" ${COMP_WORDS[i]} \"*) command=${COMP_WORDS[i]}; break ;;\n"
        "    esac\n"
        "  done\n";
  text += "  case $command in\n";
  for (const DescribedCommand& command : program.commands) text += bash_case(command.name, command);
  text += bash_case("*", program.self) +
          "  esac\n"
          "  COMPREPLY=()\n"
          "  if [[ -n $choices ]]; then\n"
          "    mapfile -t COMPREPLY < <(compgen -W \"$choices\" -- \"$word\")\n"
          "    return 0\n"
          "  fi\n"
          "  [[ $valued != *\" $previous \"* ]] || return 0  # a value that no file is\n"
          "  if [[ $word == -* ]]; then\n"
          "    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n";
  if (!names.empty())
    text +=
        "  elif [[ -z $command ]]; then\n"
        "    mapfile -t COMPREPLY < <(compgen -W \"" +
        names + "\" -- \"$word\")\n";
  text +=
      "  else\n"
      "    compopt -o filenames 2>/dev/null\n"
      "    mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
      "  fi\n"
      "}\n"
      "complete -F " +
      function + " " + program.self.name + "\n";
  return text;
}

std::string zsh_completion(const CLI::App& app) {
  const DescribedProgram program = described(app);
  std::string text = "#compdef " + program.self.name + "\n# Made from the program's table of options.\n";
  if (program.commands.empty()) return text + zsh_arguments(program.self, "");
  const std::string function = identifier(program.self.name);
  text += function + "() {\n  local -a commands\n  commands=(\n";
  for (const DescribedCommand& command : program.commands)
    text += "    " + quoted(zsh_text(command.name) + ":" + command.help) + '\n';
  text +=
      "  )\n"
      "  local i command\n"
      "  for ((i = 2; i < CURRENT; ++i)); do\n"
      "    if (( ${commands[(I)${words[i]}:*]} )); then command=${words[i]}; break; fi\n"
      "  done\n"
      "  if [[ -n $command ]]; then\n"
      "    words=(\"${(@)words[i,-1]}\")\n"
      "    (( CURRENT -= i - 1 ))\n"
      "  fi\n"
      "  case $command in\n";
  for (const DescribedCommand& command : program.commands)
    text += "    " + command.name + ")\n" + zsh_arguments(command, "      ") + "      ;;\n";
  text += "    *)\n      if [[ $PREFIX == -* ]]; then\n" + zsh_arguments(program.self, "        ") +
          "      else\n        _describe command commands\n      fi\n      ;;\n  esac\n}\n" + function + " \"$@\"\n";
  return text;
}

std::string fish_completion(const CLI::App& app) {
  const DescribedProgram program = described(app);
  const std::string& name = program.self.name;
  std::string text = "# fish completion of " + name + ", made from its table of options\n";
  if (program.commands.empty()) return text + fish_options(name, program.self, "");
  text += "complete -c " + name + " -n __fish_use_subcommand -f\n";
  for (const DescribedCommand& command : program.commands)
    text += "complete -c " + name + " -n __fish_use_subcommand -a " + command.name + " -d " +
            fish_quoted(command.help) + '\n';
  text += fish_options(name, program.self, "__fish_use_subcommand");
  for (const DescribedCommand& command : program.commands) {
    text += fish_options(name, command, "__fish_seen_subcommand_from " + command.name);
    if (command.positionals.empty())
      text += "complete -c " + name + " -n '__fish_seen_subcommand_from " + command.name + "' -f\n";
  }
  return text;
}

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

}  // namespace raylift::batch
