// SPDX-License-Identifier: Apache-2.0
// Completion of commands, options and files for bash.
#include "describe.h"

namespace raylift::cli {
namespace {

/// `valued`: only options with a value other than a file.
std::string option_names(const DescribedCommand& command, bool valued) {
  std::vector<std::string> names;
  for (const DescribedOption& option : command.options)
    if (!valued || (!option.value.empty() && !takes_path(option)))
      names.insert(names.end(), option.names.begin(), option.names.end());
  return joined(names);
}

std::string bash_case(const std::string& pattern, const DescribedProgram& program, const DescribedCommand& command) {
  const std::string parent = &command == &program.self ? "" : command.name;
  std::string text = "    " + pattern + ")\n      options=\"" + option_names(command, false) + "\"\n      valued=\" " +
                     option_names(command, true) + " \"\n      commands=\"" + joined_words(program.below(parent)) +
                     "\"\n      files=" + (command.positionals.empty() ? "" : "1") + "\n      case $previous in\n";
  for (const DescribedOption& option : command.options) {
    if (option.choices.empty()) continue;
    std::string names;
    for (const std::string& name : option.names) names += (names.empty() ? "" : "|") + name;
    text += "        " + names + ") choices=\"" + joined(option.choices) + "\" ;;\n";
  }
  return text + "        *) ;;\n      esac\n      ;;\n";
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  const DescribedProgram program = described(app);
  const std::string function = identifier(program.self.name);
  std::string text = "# bash completion of " + program.self.name + ", made from its table of options\n" + function +
                     "() {\n"
                     "  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
                     "  local command='' options valued commands files choices='' i\n";
  if (!program.commands.empty()) {
    text +=
        "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
        "    case \"$command${command:+ }${COMP_WORDS[i]}\" in\n      ";
    for (const DescribedCommand& command : program.commands)
      text += (&command == &program.commands.front() ? "\"" : " | \"") + command.name + "\"";
    text +=
        ") command+=${command:+ }${COMP_WORDS[i]} ;;\n"
        "    esac\n"
        "  done\n";
  }
  text += "  case $command in\n";
  for (const DescribedCommand& command : program.commands)
    text += bash_case("\"" + command.name + "\"", program, command);
  return text + bash_case("*", program, program.self) +
         "  esac\n"
         "  COMPREPLY=()\n"
         "  if [[ -n $choices ]]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$choices\" -- \"$word\")\n"
         "  elif [[ $valued == *\" $previous \"* ]]; then\n"
         "    :  # a value that no file is\n"
         "  elif [[ $word == -* ]]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
         "  else\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$commands\" -- \"$word\")\n"
         "    if [[ -n $files || \" $options \" == *\" $previous \"* ]]; then\n"
         "      compopt -o filenames 2>/dev/null\n"
         "      mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"$word\")\n"
         "    fi\n"
         "  fi\n"
         "}\n"
         "complete -F " +
         function + " " + program.self.name + "\n";
}

}  // namespace raylift::cli
