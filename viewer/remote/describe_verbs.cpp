// SPDX-License-Identifier: Apache-2.0
#include "remote/describe_verbs.h"

#include <array>
#include <string_view>

#include "cli/text.h"
#include "model/measurement.h"
#include "remote/arguments.h"

namespace raylift::viewer {
namespace {

using Type = Parameter::Type;

Json text_schema(const Parameter& parameter) {
  Json schema{{"type", "string"}, {"maxLength", kLongestText}};
  if (parameter.type == Type::file) schema["format"] = "path";
  if (!parameter.choices.empty()) schema["enum"] = parameter.choices;
  return schema;
}

Json number_schema(const Parameter& parameter) {
  return {{"type", "number"}, {"minimum", parameter.least}, {"maximum", parameter.most}};
}

Json schema_of(const Parameter& parameter) {
  switch (parameter.type) {
    case Type::flag:
      return {{"type", "boolean"}};
    case Type::number:
      return number_schema(parameter);
    case Type::point:
    case Type::points: {
      const Json point{{"type", "array"}, {"items", number_schema(parameter)}, {"minItems", 3}, {"maxItems", 3}};
      if (parameter.type == Type::point) return point;
      return {{"type", "array"}, {"items", point}, {"minItems", 2}, {"maxItems", kMaxMeasured}};
    }
    case Type::patterns:
    case Type::planes:
    case Type::words: {
      const Json list{{"type", "array"}, {"items", text_schema(parameter)}, {"minItems", 1}, {"maxItems", kMaxTexts}};
      return {{"oneOf", Json::array({text_schema(parameter), list})}};
    }
    case Type::text:
    case Type::file:
    case Type::choice:
      break;
  }
  return text_schema(parameter);
}

/// "file=FILE", "[fov=NUMBER]", "[view=front|back|...]".
std::string usage(const Parameter& parameter) {
  // By Parameter::Type; those of words and choices are listed.
  static constexpr std::array<const char*, 10> kValues{"TEXT", "FILE",   "PATTERN,...", "PLANE", "",
                                                       "",     "NUMBER", "true|false",  "X,Y,Z", "X,Y,Z ..."};
  std::string value = kValues[static_cast<std::size_t>(parameter.type)];
  if (parameter.type == Type::choice || parameter.type == Type::words)
    for (const std::string& word : parameter.choices)
      value += (value.empty() ? "" : parameter.type == Type::words ? "," : "|") + word;
  value = std::string(parameter.name) + '=' + value;
  return parameter.required ? value : '[' + value + ']';
}

/// "vertical field of view (1 to 170 degrees)".
std::string described(const Parameter& parameter) {
  if (parameter.type == Type::number)
    return with_range(parameter.help, parameter.least, parameter.most, parameter.unit);
  return std::string(parameter.help) + (parameter.unit.empty() ? "" : ", " + std::string(parameter.unit));
}

}  // namespace

Json describe_verbs() {
  Json methods = Json::array();
  for (const Verb& verb : verbs()) {
    Json parameters = Json::array();
    for (const Parameter& parameter : verb.parameters) {
      Json one{{"name", parameter.name},
               {"description", described(parameter)},
               {"required", parameter.required},
               {"schema", schema_of(parameter)}};
      if (!parameter.unit.empty()) one["x-unit"] = parameter.unit;
      if (!parameter.aliases.empty()) one["x-aliases"] = parameter.aliases;
      parameters.push_back(std::move(one));
    }
    methods.push_back({{"name", verb.name},
                       {"description", verb.help},
                       {"paramStructure", "by-name"},
                       {"params", std::move(parameters)},
                       {"result", {{"name", "result"}, {"description", verb.result}, {"schema", Json::object()}}}});
  }
  Json sent = Json::array();
  for (const Notification& one : notifications()) sent.push_back({{"name", one.name}, {"description", one.help}});
  return {{"openrpc", "1.3.2"},
          {"info", {{"title", "raylift-view"}, {"version", RAYLIFT_VERSION}}},
          {"methods", std::move(methods)},
          {"x-notifications", std::move(sent)}};
}

std::string verbs_help() {
  std::string text;
  for (const Verb& verb : verbs()) {
    text += "  " + std::string(verb.name) + ": " + std::string(verb.help) + '\n';
    for (const Parameter& parameter : verb.parameters) {
      const std::string named = usage(parameter);
      text += "    " + named + (named.size() < 28 ? std::string(28 - named.size(), ' ') : "\n" + std::string(32, ' ')) +
              described(parameter) + '\n';
    }
  }
  return text;
}

}  // namespace raylift::viewer
