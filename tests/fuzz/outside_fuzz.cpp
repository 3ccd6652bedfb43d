// SPDX-License-Identifier: Apache-2.0
// Anything as what a client says to a viewer: the first byte says in what pieces it comes. Each answer is JSON of one
// line, and the conversation comes to its end.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "remote/conversation.h"
#include "viewer/remote/outside_scene.h"

namespace {

using namespace raylift;
using namespace raylift::viewer;

/// A viewer that draws nothing, and saves and loads nothing.
struct Viewer {
  Viewer() { state.show(three_boxes()); }

  ViewerState state{without_bookmarks(), {640, 480}};
  SceneLoader loader;
  WindowLayout layout;
  ControlTarget target{state, nullptr, layout, loader, [](const std::string&) {}};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  Viewer shown;
  Conversation talk(shown.target);
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece = *data == 0 ? size : *data;
  const auto answer = [&] {
    (void)talk.work(Conversation::Clock::time_point::max());
    talk.notify();
    for (std::size_t end = 0; (end = talk.output().find('\n')) != std::string_view::npos; talk.sent(end + 1))
      if (!Json::parse(talk.output().substr(0, end), nullptr, false).is_structured()) std::abort();
    if (!talk.output().empty()) std::abort();
  };
  for (; !text.empty() && talk.wants_input(); text.remove_prefix(std::min(piece, text.size()))) {
    talk.receive(text.substr(0, piece));
    answer();
  }
  talk.end_input();
  while (talk.has_work()) answer();
  if (!talk.finished() && !talk.pending()) std::abort();
  return 0;
}
