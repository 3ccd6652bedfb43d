// SPDX-License-Identifier: Apache-2.0
#include "window/press_times.h"

#include <dlfcn.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>
#if __has_include(<X11/Xlib.h>)
#include <X11/Xlib.h>
#define RAYLIFT_WITH_X11
#endif

namespace raylift::viewer {

#ifdef RAYLIFT_WITH_X11
namespace {

struct Timed {
  bool press;
  double seconds;
};

/// Called for each event in the queue; takes none.
int note_event(Display*, XEvent* event, char* list) {
  auto& times = *reinterpret_cast<std::vector<Timed>*>(list);
  if (event->type == ButtonPress && event->xbutton.button <= 3)
    times.push_back({true, 1e-3 * static_cast<double>(event->xbutton.time)});
  else if (event->type == MotionNotify)
    times.push_back({false, 1e-3 * static_cast<double>(event->xmotion.time)});
  return 0;
}

/// By name: GLFW may be one for Wayland alone, and nothing else here needs X11.
template <class Function>
Function* named(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

/// Null where the window is not X11's.
Display* display() {
  static const auto get = named<Display*()>("glfwGetX11Display");
  return get != nullptr ? get() : nullptr;
}

}  // namespace

bool PressTimes::wait(double seconds, int other) {
  static const auto pending = named<decltype(XPending)>("XPending");
  static const auto connection = named<decltype(XConnectionNumber)>("XConnectionNumber");
  Display* const x11 = pending != nullptr && connection != nullptr ? display() : nullptr;
  if (x11 == nullptr) return false;
  if (pending(x11) != 0) return true;
  std::array<pollfd, 2> sockets{pollfd{connection(x11), POLLIN, 0}, pollfd{other, POLLIN, 0}};  // -1 is left out
  (void)::poll(sockets.data(), sockets.size(), static_cast<int>(1000 * seconds));  // an interrupt ends it too
  return true;
}

void PressTimes::scan(double now) {
  presses_.clear();
  static const auto check = named<decltype(XCheckIfEvent)>("XCheckIfEvent");
  Display* const x11 = check != nullptr ? display() : nullptr;
  if (x11 == nullptr) return;
  std::vector<Timed> times;
  XEvent unused;
  (void)check(x11, &unused, note_event, reinterpret_cast<char*>(&times));
  for (const Timed& event : times) {
    // The event that was read soonest tells how the clocks differ. The server's starts again after 49 days.
    const double offset = now - event.seconds;
    if (!offset_ || offset < *offset_ || offset > *offset_ + 3600) offset_ = offset;
    if (event.press) presses_.push_back(event.seconds);
  }
}
#else
bool PressTimes::wait(double, int) {
  return false;
}

void PressTimes::scan(double) {
  presses_.clear();
}
#endif

double PressTimes::next(double now) {
  if (presses_.empty()) return now;
  const double pressed = presses_.front();
  presses_.pop_front();
  return std::min(now, pressed + *offset_);
}

}  // namespace raylift::viewer
