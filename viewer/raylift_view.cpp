// SPDX-License-Identifier: Apache-2.0
// raylift-view: shows scenes, in a window or drawn into PNG files.
#include <raylift/geometry/error.h>

#include <cstdio>
#include <exception>
#include <string>

#include "interrupt.h"
#include "offscreen.h"
#include "output.h"
#include "session.h"
#include "view_options.h"
#ifdef RAYLIFT_WITH_WINDOW
#include "window.h"
#endif

namespace {

constexpr const char* kProgram = "raylift-view";

int run_program(int argc, char** argv) {
  using namespace raylift;
  viewer::ViewOptions options;
  const std::string text = viewer::parse_view_options(argc, argv, options);
  if (!text.empty()) {
    batch::write_output(text);
    return 0;
  }
  batch::Session session(options.general, kProgram);
  const bool no_window = !options.output.empty() || options.frames > 0;
  if (no_window) return viewer::draw_offscreen(options, session);
#ifdef RAYLIFT_WITH_WINDOW
  return viewer::show_window(options, session);
#else
  throw Error(ErrorKind::no_display, "this raylift-view was built without a window", {},
              "draw without one: --output FILE.png; or build with libglfw3-dev and libimgui-dev");
#endif
}

}  // namespace

int main(int argc, char** argv) {
  using namespace raylift;
  batch::guard_standard_descriptors();
  batch::catch_interrupts();
  try {
    const int code = batch::with_raylift_errors([&] { return run_program(argc, argv); });
    batch::finish_output();
    return code;
  } catch (const Error& error) {
    batch::Session(batch::GeneralOptions{}, kProgram).report(error);
    return batch::exit_code_of(error);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: error: %s\n", kProgram, error.what());
    return 70;
  }
}
