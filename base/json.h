// SPDX-License-Identifier: Apache-2.0
// The one parser of JSON, with limits: JSON comes from files and sockets of others. And the one way to write it.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace raylift::base {

struct JsonLimits {
  std::size_t bytes = std::size_t{1} << 28;
  int depth = 32;  ///< of arrays and objects in each other
  std::size_t values = 10'000'000;
};

enum class JsonComments { refused, ignored };

/// Which limit a text exceeds, such as "nested deeper than 32"; empty where none. The text need not be JSON.
[[nodiscard]] std::string json_excess(std::string_view text, const JsonLimits& limits = {},
                                      JsonComments comments = JsonComments::refused);

/// Why a text was not parsed.
struct JsonFault {
  bool exceeds_limit = false;
  std::string what;  ///< "nested deeper than 32", or "parse error at line 1, column 2: ..."
};

/// The text's value; a discarded one (is_discarded()), and the reason in `fault`, where it is no JSON or exceeds a
/// limit. nlohmann's parser callbacks are not offered: with one, an object costs a look at all elements of the array
/// that it is in.
template <class Json = nlohmann::json>
[[nodiscard]] Json parse_json(std::string_view text, JsonFault* fault = nullptr,
                              JsonComments comments = JsonComments::refused) {
  JsonFault found{true, json_excess(text, {}, comments)};
  if (found.what.empty()) {
    try {
      return Json::parse(text, nullptr, true, comments == JsonComments::ignored);
    } catch (const typename Json::exception& error) {
      found = {false, error.what()};  // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
      if (const std::size_t end = found.what.find("] "); end != std::string::npos) found.what.erase(0, end + 2);
    }
  }
  if (fault != nullptr) *fault = std::move(found);
  return Json(Json::value_t::discarded);
}

/// The text of a value, in one line or indented by so many blanks. Bytes that are not UTF-8 are replaced.
template <class Json>
[[nodiscard]] std::string json_text(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace raylift::base
