// SPDX-License-Identifier: Apache-2.0
// Messages of JSON-RPC 2.0 (jsonrpc.org/specification): what a request asks, and how answers look. No sockets.
#pragma once

#include <raylift/geometry/error.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/output.h"

namespace raylift::viewer::rpc {

using cli::Json;

// Of one message; what goes beyond is refused before it is parsed.
inline constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
inline constexpr int kMaxDepth = 32;
inline constexpr std::size_t kMaxValues = 10000;
inline constexpr std::size_t kMaxCalls = 100;  ///< of a batch

enum class Code {
  parse_error = -32700,
  invalid_request = -32600,
  method_not_found = -32601,
  invalid_params = -32602,
  internal_error = -32603,
  raylift_error = -32000  ///< data: the Error, with its kind
};

/// One request, or what is wrong with it.
struct Call {
  std::optional<Json> id;  ///< none: nothing is answered
  std::string method;
  Json params = Json::object();
  std::optional<Json> refusal;  ///< the answer to an invalid request
};

struct Message {
  std::vector<Call> calls;
  bool batch = false;  ///< the answers form an array
};

/// Reads a message. One that is refused as a whole has a single call with its refusal.
[[nodiscard]] Message parse(std::string_view text);

[[nodiscard]] Json result(const Json& id, Json value);
[[nodiscard]] Json error(const Json& id, Code code, std::string_view message, Json data = nullptr);
/// Of an Error; `code` says whether the parameters or the work failed.
[[nodiscard]] Json error(const Json& id, Code code, const Error& failure);
[[nodiscard]] Json notification(std::string_view method, Json params);
/// In one line, with its end. Bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string line(const Json& message);

}  // namespace raylift::viewer::rpc
