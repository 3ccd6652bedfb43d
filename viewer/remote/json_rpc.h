// SPDX-License-Identifier: Apache-2.0
// Messages of JSON-RPC 2.0 (jsonrpc.org/specification), without batches and parameters by position. No sockets.
#pragma once

#include <raylift/geometry/error.h>

#include <optional>
#include <string>
#include <string_view>

#include "cli/output.h"

namespace raylift::viewer::rpc {

using cli::Json;

// Limits of a message, checked before it is parsed.
inline constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
inline constexpr int kMaxDepth = 32;
inline constexpr std::size_t kMaxValues = 10000;

enum class Code {
  parse_error = -32700,
  invalid_request = -32600,
  method_not_found = -32601,
  invalid_params = -32602,
  internal_error = -32603,
  raylift_error = -32000  ///< data: the Error, with its kind
};

/// One request, or the answer that refuses it.
struct Call {
  std::optional<Json> id;  ///< none: a notification, which has no answer
  std::string method;
  Json params = Json::object();
  std::optional<Json> refusal;  ///< the answer to an invalid request
};

/// Reads a message: one request. Batches and parameters by position are refused.
[[nodiscard]] Call parse(std::string_view text);

[[nodiscard]] Json result(const Json& id, Json value);
[[nodiscard]] Json error(const Json& id, Code code, std::string_view message, Json data = nullptr);
/// An Error as an answer; `code`: whether the parameters or the work failed.
[[nodiscard]] Json error(const Json& id, Code code, const Error& failure);
[[nodiscard]] Json notification(std::string_view method, Json params);
/// The message in one line, with its end. Bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string line(const Json& message);

}  // namespace raylift::viewer::rpc
