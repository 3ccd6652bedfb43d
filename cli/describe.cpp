// SPDX-License-Identifier: Apache-2.0
#include "describe.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <utility>

namespace raylift::cli {
namespace {

/// CLI11 appends the choices of checks: "TEXT:{a,b}", "ENUM:value in {cylinder->1,sphere->0} OR {1,0}".
std::vector<std::string> choices_in(const std::string& type) {
  std::vector<std::string> choices;
  const std::size_t open = type.find('{');
  if (open == std::string::npos) return choices;
  std::istringstream words(type.substr(open + 1, type.find('}', open) - open - 1));
  for (std::string word; std::getline(words, word, ',');) choices.push_back(word.substr(0, word.find("->")));
  return choices;
}

DescribedOption described(const CLI::Option& option) {
  DescribedOption described;
  for (const std::string& name : option.get_snames()) described.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) described.names.push_back("--" + name);
  described.help = option.get_description();
  described.several = option.get_expected_max() == CLI::detail::expected_max_vector_size;
  // A flag's value after '=' is optional.
  if (option.get_type_size() != 0 && option.get_items_expected_max() != 0) {
    const std::string type = option.get_type_name();
    described.value = type.substr(0, type.find(':'));
    described.choices = choices_in(type);
  }
  if (described.names.empty()) described.value = option.get_name(true);
  return described;
}

DescribedCommand described_command(const CLI::App& app) {
  DescribedCommand command;
  command.name = command.word = app.get_name();
  command.help = app.get_description();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    DescribedOption one = described(*option);
    (one.names.empty() ? command.positionals : command.options).push_back(std::move(one));
  }
  return command;
}

void add_commands(const CLI::App& app, const std::string& parent, std::vector<DescribedCommand>& commands) {
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (below->get_group().empty()) continue;
    DescribedCommand command = described_command(*below);
    command.parent = parent;
    command.name = parent.empty() ? command.word : parent + ' ' + command.word;
    commands.push_back(command);
    add_commands(*below, command.name, commands);
  }
}

}  // namespace

std::vector<const DescribedCommand*> DescribedProgram::below(const std::string& parent) const {
  std::vector<const DescribedCommand*> found;
  for (const DescribedCommand& command : commands)
    if (command.parent == parent) found.push_back(&command);
  return found;
}

bool takes_path(const DescribedOption& option) {
  for (const char* type : {"FILE", "FOLDER", "DIR", "PATH"})
    if (option.value == type) return true;
  return option.names.end() != std::find(option.names.begin(), option.names.end(), "--output");
}

std::string identifier(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return "_" + name;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string joined_words(const std::vector<const DescribedCommand*>& commands) {
  std::vector<std::string> words;
  words.reserve(commands.size());
  for (const DescribedCommand* command : commands) words.push_back(command->word);
  return joined(words);
}

DescribedProgram described(const CLI::App& program) {
  DescribedProgram result{described_command(program), {}};
  add_commands(program, "", result.commands);
  return result;
}

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
