// SPDX-License-Identifier: Apache-2.0
#include "remote/json_rpc.h"

#include "base/json.h"
#include "cli/session.h"

namespace raylift::viewer::rpc {
namespace {

Call refused(Code code, std::string_view message) {
  Call call;
  call.refusal = error(nullptr, code, message);
  return call;
}

Call parse_call(const Json& json) {
  Call call;
  const auto invalid = [&](std::string_view why) {
    call.refusal = error(call.id.value_or(nullptr), Code::invalid_request, why);
    return call;
  };
  if (!json.is_object()) return invalid("a request is an object");
  if (const auto id = json.find("id"); id != json.end()) {
    if (!id->is_null() && !id->is_number() && !id->is_string()) return invalid("'id' must be a string or a number");
    call.id = *id;
  }
  const auto version = json.find("jsonrpc");
  if (version == json.end() || *version != "2.0") return invalid("'jsonrpc' must be \"2.0\"");
  const auto method = json.find("method");
  if (method == json.end() || !method->is_string()) return invalid("'method' must be a string");
  call.method = method->get<std::string>();
  if (const auto params = json.find("params"); params != json.end()) {
    if (!params->is_object()) return invalid("'params' must be an object");
    call.params = *params;
  }
  return call;
}

}  // namespace

Call parse(std::string_view text) {
  if (const std::string why = base::json_excess(text, {kMaxBytes, kMaxDepth, kMaxValues}); !why.empty())
    return refused(Code::invalid_request, "the message is " + why);
  const Json json = base::parse_json<Json>(text);
  if (json.is_discarded()) return refused(Code::parse_error, "the message is not JSON");
  return parse_call(json);
}

Json result(const Json& id, Json value) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(value)}};
}

Json error(const Json& id, Code code, std::string_view message, Json data) {
  Json failure{{"code", static_cast<int>(code)}, {"message", message}};
  if (!data.is_null()) failure["data"] = std::move(data);
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(failure)}};
}

Json error(const Json& id, Code code, const Error& failure) {
  Json data = cli::to_json(failure);
  const auto message = data.at("message").get<std::string>();
  data["file"] = failure.file();
  data["exit_code"] = exit_code(failure.kind());
  return error(id, code, message, std::move(data));
}

Json notification(std::string_view method, Json params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

std::string line(const Json& message) {
  return base::json_text(message) + '\n';
}

}  // namespace raylift::viewer::rpc
