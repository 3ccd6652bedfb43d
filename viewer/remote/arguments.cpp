// SPDX-License-Identifier: Apache-2.0
#include "remote/arguments.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/suggest.h"
#include "cli/quantity.h"
#include "cli/text.h"
#include "model/settings/measurement.h"

namespace raylift::viewer {
namespace {

using Type = Parameter::Type;

/// "'fov' must be a number from 1 to 170".
[[noreturn]] void reject_value(const Parameter& parameter, const std::string& wanted) {
  throw Error(ErrorKind::usage, "'" + std::string(parameter.name) + "' must be " + wanted);
}

bool is_list(Type type) {
  return type == Type::patterns || type == Type::planes || type == Type::words || type == Type::points;
}

std::string one_of_choices(const Parameter& parameter) {
  std::string text;
  for (const std::string& word : parameter.choices) text += (text.empty() ? "" : ", ") + word;
  return "one of " + text;
}

/// Checks the length, and that there is no NUL, where C's functions would end the text.
std::string checked_text(const Parameter& parameter, const Json& value) {
  if (!value.is_string()) reject_value(parameter, is_list(parameter.type) ? "a text or a list of texts" : "a text");
  auto text = value.get<std::string>();
  if (text.size() > kLongestText)
    reject_value(parameter, "a text of at most " + std::to_string(kLongestText) + " bytes");
  if (text.find('\0') != std::string::npos) reject_value(parameter, "a text without NUL");
  const bool chosen = parameter.type == Type::choice || parameter.type == Type::words;
  const std::vector<std::string>& words = parameter.accepted.empty() ? parameter.choices : parameter.accepted;
  if (chosen && std::find(words.begin(), words.end(), text) == words.end())
    reject_value(parameter, one_of_choices(parameter));
  if (parameter.type == Type::file && !std::filesystem::path(text).is_absolute())
    reject_value(parameter, "an absolute path, because the viewer has another working folder");
  return text;
}

double checked_number(const Parameter& parameter, const Json& value, const std::string& wanted) {
  if (!value.is_number()) reject_value(parameter, wanted);
  const double number = value.get<double>();
  if (!(number >= parameter.least && number <= parameter.most)) reject_value(parameter, wanted);
  return number;
}

Json checked_list(const Parameter& parameter, const Json& value) {
  Json list = Json::array();
  if (!value.is_array()) {
    list.push_back(checked_text(parameter, value));
    return list;
  }
  if (value.empty() || value.size() > kMaxTexts)
    reject_value(parameter, "a list of 1 to " + std::to_string(kMaxTexts) + " texts");
  for (const Json& item : value) list.push_back(checked_text(parameter, item));
  return list;
}

Json checked_point(const Parameter& parameter, const Json& value, const std::string& range) {
  if (!value.is_array() || value.size() != 3) reject_value(parameter, "a list of three numbers");
  Json point = Json::array();
  for (const Json& item : value) point.push_back(checked_number(parameter, item, "three numbers" + range));
  return point;
}

Json checked_points(const Parameter& parameter, const Json& value, const std::string& range) {
  if (!value.is_array() || value.size() < 2 || value.size() > kMaxMeasured)
    reject_value(parameter, "a list of two or three points, or patterns of solids");
  Json points = Json::array();
  for (const Json& item : value)
    points.push_back(item.is_string() ? Json(checked_text(parameter, item)) : checked_point(parameter, item, range));
  return points;
}

Json checked_value(const Parameter& parameter, const Json& value) {
  const std::string range = " from " + cli::short_number(parameter.least) + " to " + cli::short_number(parameter.most);
  switch (parameter.type) {
    case Type::text:
    case Type::file:
    case Type::choice:
      return checked_text(parameter, value);
    case Type::patterns:
    case Type::planes:
    case Type::words:
      return checked_list(parameter, value);
    case Type::number:
      if (!parameter.word.empty() && value == parameter.word) return value;
      return checked_number(parameter, value,
                            "a number" + range + (parameter.word.empty() ? "" : ", or " + std::string(parameter.word)));
    case Type::flag:
      if (!value.is_boolean()) reject_value(parameter, "true or false");
      return value;
    case Type::points:
      return checked_points(parameter, value, range);
    case Type::point:
      break;
  }
  return checked_point(parameter, value, range);
}

std::vector<std::string> names_of(const Verb& verb) {
  std::vector<std::string> names;
  for (const Parameter& parameter : verb.parameters) names.emplace_back(parameter.name);
  return names;
}

const Parameter* find_parameter(const Verb& verb, std::string_view name) {
  for (const Parameter& parameter : verb.parameters)
    if (parameter.name == name ||
        std::find(parameter.aliases.begin(), parameter.aliases.end(), name) != parameter.aliases.end())
      return &parameter;
  return nullptr;
}

[[noreturn]] void reject_name(const Verb& verb, const std::string& name) {
  if (verb.parameters.empty()) throw Error(ErrorKind::usage, std::string(verb.name) + " takes no parameters");
  throw Error(ErrorKind::usage, std::string(verb.name) + " has no parameter '" + cli::printable(name.substr(0, 64)) +
                                    "'" + base::did_you_mean(name.substr(0, 64), names_of(verb)));
}

/// The value of a typed word, by the rules of options.
Json typed_value(const Parameter& parameter, const std::string& word) {
  switch (parameter.type) {
    case Type::number:
      if (const auto number = cli::number(word)) return *number;
      if (!parameter.word.empty() && word == parameter.word) return word;
      reject_value(parameter, "a number" + (parameter.word.empty() ? "" : ", or " + std::string(parameter.word)));
    case Type::flag:
      if (word != "true" && word != "false") reject_value(parameter, "true or false");
      return word == "true";
    case Type::point:
    case Type::points: {
      const bool pattern = parameter.type == Type::points && !cli::three_numbers(word);
      if (pattern) return Json::array({word});
      const Eigen::Vector3d p = cli::parse_point(word);
      Json point = Json::array({p.x(), p.y(), p.z()});
      return parameter.type == Type::point ? point : Json::array({point});
    }
    case Type::patterns:
    case Type::words:
      return cli::split_at_commas(word);
    case Type::planes:
      return Json::array({word});
    case Type::file:
      return std::filesystem::absolute(cli::parse_file_name(word)).string();
    case Type::text:
    case Type::choice:
      break;
  }
  return word;
}

/// The parameter that a word sets; removes the name from the word.
const Parameter& split_name(const Verb& verb, std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals != std::string::npos)
    if (const Parameter* named = find_parameter(verb, word.substr(0, equals))) {
      word.erase(0, equals + 1);
      return *named;
    }
  // A file, a pattern and a plane may contain '=': "x=100".
  const bool first = !verb.parameters.empty() &&
                     (equals == std::string::npos ||
                      (verb.parameters.front().type != Type::choice && verb.parameters.front().type != Type::words));
  if (!first) reject_name(verb, word.substr(0, equals));
  return verb.parameters.front();
}

}  // namespace

Arguments::Arguments(const Verb& verb, const Json& given) : verb_(verb.name) {
  for (const auto& [name, value] : given.items()) {
    const Parameter* parameter = find_parameter(verb, name);
    if (parameter == nullptr) reject_name(verb, name);
    if (value.is_null()) continue;
    if (has(parameter->name)) throw Error(ErrorKind::usage, "'" + std::string(parameter->name) + "' is given twice");
    values_[std::string(parameter->name)] = checked_value(*parameter, value);
  }
  for (const Parameter& parameter : verb.parameters)
    if (parameter.required && !has(parameter.name))
      throw Error(ErrorKind::usage, std::string(verb.name) + ": '" + std::string(parameter.name) + "' is missing");
}

Arguments Arguments::of_words(const Verb& verb, std::span<const std::string> words) {
  Json given = Json::object();
  for (std::string word : words) {
    const Parameter& parameter = split_name(verb, word);
    const std::string name(parameter.name);
    const Json value = typed_value(parameter, word);
    if (given.contains(name) && is_list(parameter.type))
      given[name].insert(given[name].end(), value.begin(), value.end());
    else if (given.contains(name))
      throw Error(ErrorKind::usage, "'" + name + "' is given twice");
    else
      given[name] = value;
  }
  return {verb, given};
}

std::optional<Eigen::Vector3d> Arguments::point(std::string_view name) const {
  const auto numbers = value<std::array<double, 3>>(name);
  if (!numbers) return std::nullopt;
  return Eigen::Vector3d(numbers->data());
}

std::vector<Eigen::Vector3d> Arguments::points(std::string_view name,
                                               const std::function<Eigen::Vector3d(const std::string&)>& find) const {
  std::vector<Eigen::Vector3d> result;
  for (const Json& item : value<Json>(name).value_or(Json::array()))
    result.push_back(item.is_string() ? find(item.get<std::string>())
                                      : Eigen::Vector3d(item.get<std::array<double, 3>>().data()));
  return result;
}

}  // namespace raylift::viewer
