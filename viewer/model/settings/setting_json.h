// SPDX-License-Identifier: Apache-2.0
// Settings and the origin of light as JSON, for bookmarks and for the remote control. No GL.
#pragma once

#include <nlohmann/json.hpp>

#include "model/settings/setting_table.h"

namespace raylift::viewer {

[[nodiscard]] nlohmann::ordered_json to_json(const SettingValue& value);
/// A number is clamped to the setting's range. Throws Error(usage) for a value of another type.
[[nodiscard]] SettingValue setting_value(const Setting& setting, const nlohmann::ordered_json& json);

/// An object with the settings of these parts, by name.
[[nodiscard]] nlohmann::ordered_json settings_json(const Settings& settings, std::initializer_list<Setting::Part> parts,
                                                   const SettingTable& table = setting_table());
/// Sets what the object has of these parts, also by names with dashes and by older names. Throws Error(usage) for a
/// value that options would refuse or that has another type, and for JSON that is not an object.
void read_settings(const nlohmann::ordered_json& json, Settings& settings, std::initializer_list<Setting::Part> parts,
                   const SettingTable& table = setting_table());

/// An object with the members of an origin that are not empty.
[[nodiscard]] nlohmann::ordered_json origin_json(const LightOrigin& origin);
/// Throws what nlohmann's library throws for other types.
[[nodiscard]] LightOrigin light_origin(const nlohmann::ordered_json& json);

}  // namespace raylift::viewer
