// SPDX-License-Identifier: Apache-2.0
// What tests of the verbs have in common: the state of a viewer that draws nothing, and what is said to it.
#pragma once

#include <gtest/gtest.h>
#include <raylift/geometry/scene/scene.h>

#include <memory>
#include <string>
#include <vector>

#include "controls.h"
#include "outside/conversation.h"

namespace raylift::viewer {

using cli::Json;

/// Three boxes: "tank" of water, and in it "pmt_1" and "pmt_2" of glass.
inline std::shared_ptr<const Scene> three_boxes() {
  Scene scene;
  scene.source = "/boxes.dae";
  scene.materials = {{"Water", {0, 0, 1, 1}}, {"Glass", {1, 1, 0, 1}}};
  Mesh mesh;
  mesh.name = "box";
  for (int i = 0; i != 8; ++i)
    mesh.vertices.push_back({(i & 1) != 0 ? 1.0F : -1.0F, (i & 2) != 0 ? 1.0F : -1.0F, (i & 4) != 0 ? 1.0F : -1.0F});
  mesh.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                    {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  mesh.parts = {{0, 12}};
  scene.meshes = {mesh};
  scene.bindings = {{0}, {1}};
  const char* names[] = {"tank", "pmt_1", "pmt_2"};
  for (std::uint32_t i = 0; i != 3; ++i) {
    scene.nodes.push_back({names[i], i == 0 ? kNone : 0, {}, kNone});
    Instance instance;
    instance.node = i;
    instance.binding = i == 0 ? 0 : 1;
    instance.transform = Eigen::Translation3d(i == 0   ? 0
                                              : i == 1 ? -300
                                                       : 300,
                                              0, 0) *
                         Eigen::Scaling(i == 0 ? 900.0 : 50.0);
    scene.instances.push_back(instance);
  }
  scene.bounds.add({-900, -900, -900});
  scene.bounds.add({900, 900, 900});
  return std::make_shared<const Scene>(std::move(scene));
}

class Outside : public testing::Test {
 protected:
  Outside() { state_.show(three_boxes()); }

  static ViewOptions options() {
    ViewOptions options;
    options.bookmarks = "/dev/null/bookmarks.json";  // none can be saved
    return options;
  }
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

  ViewerState state_{options(), {640, 480}};
  SceneLoader loader_;
  WindowLayout layout_;
  ControlTarget target_{state_, nullptr, layout_, loader_, [](const std::string&) {}};
};

}  // namespace raylift::viewer
