// SPDX-License-Identifier: Apache-2.0
#include "state/options/view_config.h"

#include <raylift/geometry/error.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/json.h"
#include "base/suggest.h"
#include "cli/text.h"

namespace raylift::viewer {
namespace {

/// The value of an option that is read before all others; the last one counts.
std::optional<std::string> early_value(int argc, char** argv, const std::string& name) {
  std::optional<std::string> value;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--") break;
    if (argument == name && i + 1 < argc) value = argv[i + 1];
    if (argument.rfind(name + '=', 0) == 0) value = argument.substr(name.size() + 1);
  }
  return value;
}

bool early_flag(int argc, char** argv, const std::string& name) {
  for (int i = 1; i < argc; ++i)
    if (argv[i] == name) return true;
  return false;
}

std::string as_text(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Adds an option with its value, or one option for each text of a list.
void add_arguments(const std::string& key, const nlohmann::json& value, std::vector<std::string>& arguments) {
  const std::string option = "--" + key + '=';
  if (!value.is_array()) {
    arguments.push_back(option + as_text(value));
  } else if (!value.empty() && value.front().is_number()) {
    std::string list;
    for (const auto& item : value) list += (list.empty() ? "" : ",") + as_text(item);
    arguments.push_back(option + list);
  } else {
    for (const auto& item : value) arguments.push_back(option + as_text(item));
  }
}

}  // namespace

std::string config_folder() {
  if (const char* set = std::getenv("XDG_CONFIG_HOME"); set != nullptr && *set != '\0')
    return std::string(set) + "/raylift";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return std::string(home) + "/.config/raylift";
  return {};
}

std::string config_file(int argc, char** argv, const std::string& instead) {
  for (const char* flag : {"--help", "-h", "--version", "--no-config"})
    if (early_flag(argc, argv, flag)) return {};
  if (!instead.empty() && early_value(argc, argv, instead)) return {};
  if (const auto named = early_value(argc, argv, "--config")) return *named;
  const std::string path = config_folder().empty() ? "" : config_folder() + "/view.json";
  std::error_code ignored;
  return std::filesystem::exists(path, ignored) ? path : "";
}

std::vector<std::string> read_config(const std::string& path, const CLI::App& app) {
  const auto malformed = [&](const std::string& problem, const std::string& element) -> Error {
    return {ErrorKind::malformed, problem, {path, element}, "see 'raylift-view --help'"};
  };
  std::ifstream in(path);
  std::error_code ignored;
  if (!in || std::filesystem::is_directory(path, ignored))
    throw Error(ErrorKind::io, "the configuration can't be read", {path, ""}, "check its name");
  const nlohmann::json config =
      base::parse_json(std::string{std::istreambuf_iterator<char>(in), {}}, nullptr, base::JsonComments::ignored);
  if (!config.is_object()) throw malformed("the configuration is not a JSON object", "");
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames())
      if (name != "config" && name != "no-config" && name != "help" && name != "version") names.push_back(name);
  std::vector<std::string> arguments;
  for (const auto& [key, value] : config.items()) {
    if (std::find(names.begin(), names.end(), key) == names.end())
      throw malformed("unknown option '" + cli::printable(key) + "'" + base::did_you_mean(key, names),
                      "key '" + cli::printable(key) + "'");
    if (value.is_null() || value.is_object() ||
        (value.is_array() && std::any_of(value.begin(), value.end(),
                                         [](const auto& item) { return item.is_structured() || item.is_null(); })))
      throw malformed("an option's value is a string, a number, true, false or a list", "key '" + key + "'");
    add_arguments(key, value, arguments);
  }
  return arguments;
}

}  // namespace raylift::viewer
