// SPDX-License-Identifier: Apache-2.0
#include "json.h"

#include <algorithm>

namespace raylift::base {

std::string json_excess(std::string_view text, const JsonLimits& limits, JsonComments comments) {
  if (text.size() > limits.bytes) return "longer than " + std::to_string(limits.bytes) + " bytes";
  int depth = 0;
  std::size_t values = 1;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (quoted) {
      continue;
    } else if (c == '/' && comments == JsonComments::ignored) {
      const bool line = text.substr(i).starts_with("//");
      i = std::min(line ? text.find('\n', i) : text.find("*/", i + 2), text.size());
    } else if (c == '[' || c == '{') {
      ++depth;
      ++values;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',') {
      ++values;
    }
    if (depth > limits.depth) return "nested deeper than " + std::to_string(limits.depth);
    if (values > limits.values) return "more than " + std::to_string(limits.values) + " values";
  }
  return {};
}

}  // namespace raylift::base
