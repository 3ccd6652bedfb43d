// SPDX-License-Identifier: Apache-2.0
// Manual pages in roff, with the macros of man(7).
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "describe.h"
#include "describe_options.h"

namespace raylift::cli {
namespace {

/// Text that roff prints as it stands: no escape, no macro at the start of a line, and hyphens that can be copied.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n'))
      out += std::string("\\&") + c;
    else
      out += c;
  }
  return out;
}

std::string bold(const std::string& text) {
  return "\\fB" + roff(text) + "\\fR";
}
std::string italic(const std::string& text) {
  return "\\fI" + roff(text) + "\\fR";
}

/// Of a paragraph; lines follow each other as words do.
std::string paragraph(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  return roff(text) + '\n';
}

std::string option_text(const DescribedOption& option) {
  std::string text = ".TP\n";
  for (const std::string& name : option.names) text += (&name == &option.names.front() ? "" : ", ") + bold(name);
  if (!option.value.empty()) text += (option.names.empty() ? "" : " ") + italic(option.value);
  if (option.several) text += " ...";
  text += '\n' + paragraph(option.help + (option.fallback.empty() ? "" : " [" + option.fallback + "]"));
  return text;
}

using Groups = std::vector<std::pair<std::string, std::string>>;

/// The options by group, in the order in which the help has them.
Groups groups_of(const DescribedCommand& command) {
  Groups groups;
  for (const DescribedOption& option : command.options) {
    std::size_t i = 0;
    while (i != groups.size() && groups[i].first != option.group) ++i;
    if (i == groups.size()) groups.emplace_back(option.group, "");
    groups[i].second += option_text(option);
  }
  return groups;
}

std::string synopsis(const std::string& program, const DescribedCommand& command, bool has_commands) {
  std::string text = ".B " + roff(program) + '\n';
  if (command.name != program) text += ".B " + roff(command.name) + '\n';
  if (!command.options.empty()) text += "[\\fIOPTION\\fR]...\n";
  for (const DescribedOption& positional : command.positionals) {
    const std::string name = italic(positional.value) + (positional.several ? "..." : "");
    text += (positional.required ? name : "[" + name + "]") + '\n';
  }
  if (has_commands) text += (command.positionals.empty() ? ".I COMMAND\n\\&...\n" : "|\n.I COMMAND\n\\&...\n");
  return text;
}

/// A footer of the help: indented lines stay as they are, others flow together, an empty one begins a paragraph.
std::string footer(const std::string& text) {
  std::string out;
  std::istringstream lines(text);
  bool verbatim = false;
  for (std::string line; std::getline(lines, line);) {
    const bool indented = line.starts_with(' ');
    if (indented != verbatim) out += indented ? ".nf\n" : ".fi\n";
    verbatim = indented;
    if (!line.empty())
      out += roff(line) + '\n';
    else if (!out.empty())
      out += ".PP\n";
  }
  return out + (verbatim ? ".fi\n" : "");
}

std::string first_line(const std::string& text) {
  std::string line = text.substr(0, text.find_first_of(".\n:"));
  return line;
}

std::string upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

std::string commands_text(const DescribedProgram& program) {
  // Which commands have a group of options word for word.
  std::map<std::string, std::vector<std::string>> users;
  for (const DescribedCommand& command : program.commands)
    for (const auto& [title, text] : groups_of(command)) users[title + '\n' + text].push_back(command.name);

  std::string text = ".SH COMMANDS\n";
  std::string shared;
  std::set<std::string> written;
  for (const DescribedCommand& command : program.commands) {
    text += ".SS " + roff(command.name) + '\n' +
            synopsis(program.self.name, command, !program.below(command.name).empty()) + ".PP\n" +
            paragraph(command.help + ".");
    for (const DescribedOption& positional : command.positionals) text += option_text(positional);
    std::string elsewhere;
    for (const auto& [title, options] : groups_of(command)) {
      const std::vector<std::string>& names = users[title + '\n' + options];
      if (names.size() == 1 || title == "Options") {
        text += options;
        continue;
      }
      elsewhere += (elsewhere.empty() ? "" : " and ") + bold(title);
      if (!written.insert(title + '\n' + options).second) continue;
      shared += ".SS " + roff(title) + "\nOptions of ";
      for (std::size_t i = 0; i != names.size(); ++i)
        shared += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + bold(names[i]);
      shared += ":\n" + options;
    }
    if (!elsewhere.empty()) text += ".PP\nAlso the options under " + elsewhere + " below.\n";
    if (!command.footer.empty()) text += ".PP\n";
    text += footer(command.footer);
  }
  if (!shared.empty()) text += ".SH OPTIONS OF SEVERAL COMMANDS\n" + shared;
  return text;
}

}  // namespace

std::string manual_page(const CLI::App& app, const std::string& version, const Manual& manual) {
  const DescribedProgram program = described(app);
  const DescribedCommand& self = program.self;
  std::string text = ".\\\" Made from the program's table of options.\n.TH " + upper(roff(self.name)) + " 1 \"\" \"" +
                     roff(version) + "\" \"User Commands\"\n";
  text += ".SH NAME\n" + roff(self.name) + " \\- " + roff(first_line(self.help)) + '\n';
  text += ".SH SYNOPSIS\n" + synopsis(self.name, self, !program.commands.empty());
  text += ".SH DESCRIPTION\n" + paragraph(self.help);
  text += ".SH OPTIONS\n";
  for (const DescribedOption& positional : self.positionals) text += option_text(positional);
  for (const auto& [title, options] : groups_of(self))
    text += (title == "Options" ? "" : ".SS " + roff(title) + '\n') + options;
  if (!program.commands.empty()) text += commands_text(program);
  if (!self.footer.empty()) text += ".SH NOTES\n" + footer(self.footer);
  if (!manual.see_also.empty()) text += ".SH SEE ALSO\n" + roff(manual.see_also) + '\n';
  return text;
}

}  // namespace raylift::cli
