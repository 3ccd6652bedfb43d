// SPDX-License-Identifier: Apache-2.0
#include "model/settings/setting_json.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <string>

namespace raylift::viewer {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void reject_type(const Setting& setting, const char* wanted) {
  throw Error(ErrorKind::usage, "'" + std::string(setting.name) + "' must be " + wanted);
}

Json::const_iterator find_member(const Json& json, const Setting& setting) {
  std::string dashes(setting.name);
  std::replace(dashes.begin(), dashes.end(), '_', '-');
  std::vector<std::string> names{std::string(setting.name), dashes};
  names.insert(names.end(), setting.aliases.begin(), setting.aliases.end());
  for (const std::string& name : names)
    if (const auto found = json.find(name); found != json.end()) return found;
  return json.end();
}

}  // namespace

Json to_json(const SettingValue& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag;
  if (const double* number = std::get_if<double>(&value)) return *number;
  if (const std::string* text = std::get_if<std::string>(&value)) return *text;
  return nullptr;
}

SettingValue setting_value(const Setting& setting, const Json& json) {
  if (json.is_null() && setting.get(Settings()) == SettingValue()) return {};
  if (setting.type == Setting::Type::flag) {
    if (!json.is_boolean()) reject_type(setting, "true or false");
    return json.get<bool>();
  }
  if (setting.type == Setting::Type::number) {
    if (!setting.word.empty() && json == setting.word) return setting.word_value;
    if (!json.is_number()) reject_type(setting, "a number");
    return std::clamp(json.get<double>(), setting.least, setting.most);
  }
  if (!json.is_string()) reject_type(setting, "a text");
  return json.get<std::string>();
}

Json settings_json(const Settings& settings, std::initializer_list<Setting::Part> parts, const SettingTable& table) {
  Json json = Json::object();
  for (const Setting& row : table)
    if (row.in(parts)) json[std::string(row.name)] = to_json(row.get(settings));
  return json;
}

void read_settings(const Json& json, Settings& settings, std::initializer_list<Setting::Part> parts,
                   const SettingTable& table) {
  if (!json.is_object()) throw Error(ErrorKind::usage, "settings are not a JSON object");
  for (const Setting& row : table)
    if (row.in(parts))
      if (const auto found = find_member(json, row); found != json.end()) row.set(settings, setting_value(row, *found));
}

Json origin_json(const LightOrigin& origin) {
  Json json = Json::object();
  if (!origin.photons.empty()) json["file"] = origin.photons;
  if (!origin.compare.empty()) json["compare"] = origin.compare;
  if (!origin.event.empty()) json["event"] = origin.event;
  if (origin.source.empty()) return json;
  json["source"] = origin.source;
  json["moved"] = {origin.moved.x(), origin.moved.y(), origin.moved.z()};
  return json;
}

LightOrigin light_origin(const Json& json) {
  LightOrigin origin{json.value("file", ""), json.value("compare", ""), json.value("source", "")};
  origin.event = json.value("event", "");
  if (json.contains("moved"))
    for (int axis = 0; axis != 3; ++axis)
      origin.moved[axis] = json["moved"].at(static_cast<std::size_t>(axis)).get<double>();
  return origin;
}

}  // namespace raylift::viewer
