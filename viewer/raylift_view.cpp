// SPDX-License-Identifier: Apache-2.0
// raylift-view: shows scenes, in a window or drawn into PNG files.
#include <raylift/geometry/error.h>

#include <memory>
#include <string>

#include "cli/output.h"
#include "cli/session.h"
#include "offscreen.h"
#include "remote/send.h"
#include "remote/typed_commands.h"
#include "remote/verbs.h"
#include "state/options/view_options.h"
#ifdef RAYLIFT_WITH_WINDOW
#include "remote/view_server.h"
#include "window/window.h"
#endif

namespace {

constexpr const char* kProgram = "raylift-view";

int view(int argc, char** argv) {
  using namespace raylift;
  viewer::ViewOptions options;
  viewer::SendOptions send;
  const std::string text = viewer::parse_view_options(argc, argv, options,
                                                      {[&](CLI::App& app) { viewer::add_send_options(app, send); },
                                                       "\n\nVerbs of --send:\n" + viewer::verbs_help(), "--send"});
  if (!text.empty()) {
    cli::write_output(text);
    return 0;
  }
  cli::Session session(options.general, kProgram);
  for (const std::string& warning : options.warnings) session.warn(warning);
  if (send.describe) {
    session.write(viewer::describe_verbs().dump(2) + '\n');
    return 0;
  }
  if (!send.verb.empty()) return viewer::send(send, options.files, session);
  const bool no_window = !options.image.output.empty() || options.image.frames > 0;
  if (no_window) return viewer::draw_offscreen(options.image, viewer::OffscreenScenes(options), session);
#ifdef RAYLIFT_WITH_WINDOW
  viewer::ServerFactory make_server;
  if (!options.window.no_socket)
    make_server = [](const viewer::ControlTarget& target) { return std::make_unique<viewer::ViewServer>(target); };
  return viewer::show_window(options, session, make_server, [](const viewer::ControlTarget& target) {
    return std::make_unique<viewer::TypedCommands>(target);
  });
#else
  throw Error(ErrorKind::no_display, "this raylift-view was built without a window", {},
              "draw without one: --output FILE.png; or build with libglfw3-dev and libimgui-dev");
#endif
}

}  // namespace

int main(int argc, char** argv) {
  return raylift::cli::run_program(kProgram, [&] { return view(argc, argv); });
}
