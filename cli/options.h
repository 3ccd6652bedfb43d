// SPDX-License-Identifier: Apache-2.0
// Options that several commands share, and parsing with suggestions for mistyped words.
#pragma once

#include <raylift/geometry/import/load.h>
#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli11_forward.h"
#include "session.h"

namespace raylift::cli {

/// Adds a command. finish_command() gives it the text below its help, unless that is empty, and what is called where it
/// is chosen.
CLI::App* add_command(CLI::App& program, const std::string& name, const std::string& help);
void finish_command(CLI::App& app, const std::string& footer, std::function<void()> chosen);

/// Whether the command line has a command of the app.
[[nodiscard]] bool has_command(const CLI::App& app);
/// Whether it has the option.
[[nodiscard]] bool is_given(const CLI::App& app, const std::string& option);

/// Adds a flag that sets `value`, or that calls `given`.
CLI::Option* add_flag(CLI::App& app, const std::string& names, bool& value, const std::string& help);
CLI::Option* add_flag(CLI::App& app, const std::string& names, std::function<void()> given, const std::string& help);

/// Adds a flag that may have a value behind '=': it never takes the argument that follows it. `given` gets the value,
/// or an empty text.
CLI::Option* add_flag_with_value(CLI::App& app, const std::string& name, std::function<void(const std::string&)> given,
                                 const std::string& help);

/// Adds a positional argument that takes several words.
void add_words(CLI::App& app, const std::string& name, std::vector<std::string>& words, const std::string& help,
               bool required);

/// The heading under which the help lists these options.
void set_group(CLI::App& app, const std::string& group, const std::vector<std::string>& options);

/// Adds an option whose text `read` parses. An Error that `read` throws becomes CLI11's error. The help shows
/// `fallback` as the default.
CLI::Option* add_parsed(CLI::App& app, const std::string& names, const std::string& type, const std::string& fallback,
                        const std::string& help, std::function<void(const std::string&)> read);

/// Names words that completions offer for the option's value. Others may be possible, too.
CLI::Option* offer(CLI::Option* option, const std::vector<std::string>& words);

/// As add_parsed() with an option that takes one of these words.
CLI::Option* add_choice(CLI::App& app, const std::string& names, const std::string& type, const std::string& fallback,
                        const std::string& help, const std::vector<std::string>& words,
                        std::function<void(const std::string&)> read);

/// --verbose, -v, -q and --no-progress; with `json`, --json too.
void add_general_options(CLI::App& app, GeneralOptions& options, bool json);

/// --unit to --drop-degenerate, isolation, and all limits with their defaults.
void add_load_options(CLI::App& app, LoadOptions& options);

/// The value of --optics: a file, or "off".
void set_optics(LoadOptions& options, const std::string& text);

/// The positional FILE..., one or more; none too, if they are not required.
void add_files(CLI::App& app, std::vector<std::string>& files, bool required = true);

/// The text, if it is one of the choices; otherwise throws Error(usage) with a suggestion.
const std::string& one_of(const std::string& text, const std::vector<std::string>& choices);

/// An enumeration's names, for add_choice().
template <std::size_t N>
[[nodiscard]] std::vector<std::string> words_of(const std::array<std::string_view, N>& names) {
  return {names.begin(), names.end()};
}

/// The value of an enumeration with these names, in its order; otherwise throws as one_of().
template <class Enum, std::size_t N>
[[nodiscard]] Enum enum_of(std::string_view text, const std::array<std::string_view, N>& names) {
  one_of(std::string(text), words_of(names));
  return static_cast<Enum>(std::find(names.begin(), names.end(), text) - names.begin());
}

/// The name of an enumeration's value.
template <class Enum, std::size_t N>
[[nodiscard]] std::string name_of(Enum value, const std::array<std::string_view, N>& names) {
  return std::string(names[static_cast<std::size_t>(value)]);
}

/// Parses the command line. Returns the text of --help or --version if one is given, else nothing. Throws Error(usage)
/// in one line, with a suggestion for mistyped options and commands.
[[nodiscard]] std::string parse_command_line(CLI::App& program, int argc, char** argv);

}  // namespace raylift::cli
