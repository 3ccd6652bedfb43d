// SPDX-License-Identifier: Apache-2.0
// Facts as names and values with units, as panels show them and as they are copied.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace raylift::viewer {

using FactLines = std::vector<std::pair<std::string, std::string>>;

/// "name: value\n...".
[[nodiscard]] inline std::string lines_text(const FactLines& lines) {
  std::string text;
  for (const auto& [name, value] : lines) text += name + ": " + value + '\n';
  return text;
}

}  // namespace raylift::viewer
