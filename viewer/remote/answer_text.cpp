// SPDX-License-Identifier: Apache-2.0
#include "remote/answer_text.h"

#include "base/json.h"
#include "cli/text.h"

namespace raylift::viewer {

Error error_of(const Json& failure) {
  try {
    const Json& data = failure.at("data");
    return {error_kind(data.at("kind").get<std::string>()),
            data.at("problem").get<std::string>(),
            {data.at("file").get<std::string>(), data.at("element").get<std::string>()},
            data.at("advice").get<std::string>()};
  } catch (const std::exception&) {
    return {ErrorKind::malformed, "the viewer answered: " + base::json_text(failure)};
  }
}

std::string as_text(const Json& value) {
  const std::string text = value.is_string() ? value.get<std::string>() : base::json_text(value);
  return cli::printable(text);
}

std::string lines_of(const Json& result) {
  if (result.is_null()) return {};
  if (!result.is_object()) return as_text(result) + '\n';
  std::string text;
  for (const auto& [key, value] : result.items())
    if (!value.is_null()) text += cli::printable(key) + ": " + as_text(value) + '\n';
  return text;
}

}  // namespace raylift::viewer
