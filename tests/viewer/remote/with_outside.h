// SPDX-License-Identifier: Apache-2.0
// What tests of the verbs have in common: the state of a viewer that draws nothing, and what is said to it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "outside_scene.h"
#include "remote/conversation.h"

namespace raylift::viewer {

using cli::Json;

// Error codes of JSON-RPC's specification, but for the last.
inline constexpr int kParse = -32700, kInvalid = -32600, kMethod = -32601, kParams = -32602, kRaylift = -32000;

class Outside : public testing::Test {
 protected:
  Outside() { state_.show(three_boxes()); }

  /// What is said to what, now; nothing where it is not said.
  std::vector<Json> said(Conversation& talk) const {
    std::vector<Json> lines;
    for (std::size_t end; (end = talk.output().find('\n')) != std::string_view::npos; talk.sent(end + 1))
      lines.push_back(Json::parse(talk.output().substr(0, end)));
    return lines;
  }
  /// The answer to one line.
  Json ask(Conversation& talk, const std::string& line) const {
    talk.receive(line + '\n');
    (void)talk.work(Conversation::Clock::time_point::max());
    const std::vector<Json> lines = said(talk);
    return lines.size() == 1 ? lines.front() : Json{{"lines", lines}};
  }
  Json ask(const std::string& line) const {
    Conversation talk(target_);
    return ask(talk, line);
  }
  static std::string request(const std::string& verb, const Json& params = Json::object(), const Json& id = 1) {
    Json request{{"jsonrpc", "2.0"}, {"id", id}, {"method", verb}};
    if (!params.is_null()) request["params"] = params;
    return request.dump();
  }
  /// The result of a verb; what else comes is a failure.
  Json call(const std::string& verb, const Json& params = Json::object()) const {
    const Json answer = ask(request(verb, params));
    EXPECT_TRUE(answer.contains("result")) << verb << params << ": " << answer;
    return answer.value("result", Json());
  }
  /// The error's code; 0 where there is none.
  static int code(const Json& answer) { return answer.contains("error") ? answer["error"]["code"].get<int>() : 0; }

  ViewerState state_{without_bookmarks(), {640, 480}};
  SceneLoader loader_;
  WindowLayout layout_;
  ControlTarget target_{state_, nullptr, layout_, loader_, [](const std::string&) {}};
};

}  // namespace raylift::viewer
