// SPDX-License-Identifier: Apache-2.0
// JSON files in the user's folder of configuration: bookmarks, and the window's state.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace raylift::viewer {

using KeptJson = nlohmann::ordered_json;

/// The whole file; an empty object where there is none. Errors: io, malformed: "not a file of <what>".
[[nodiscard]] KeptJson read_json_file(const std::filesystem::path& file, const std::string& what);
/// Replaces the file in one step, and creates its folder. Errors: io.
void write_json_file(const std::filesystem::path& file, const KeptJson& json);

}  // namespace raylift::viewer
