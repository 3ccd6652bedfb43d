// SPDX-License-Identifier: Apache-2.0
// When mouse buttons were pressed. GLFW tells of a press when it is polled, which may be a second later where an image
// takes as long; on X11 the events themselves have times.
#pragma once

#include <deque>
#include <optional>

namespace raylift::viewer {

class PressTimes {
 public:
  /// Waits until events are there, or `other` is readable (a descriptor, or -1), or for so long, and leaves the events
  /// to scan(). False: nothing was waited for, since only GLFW can.
  [[nodiscard]] static bool wait(double seconds, int other);
  /// Reads the times of the presses that the next glfwPollEvents() will tell of. `now` is glfwGetTime().
  void scan(double now);
  /// The time of the press that GLFW tells of now, by glfwGetTime(); `now` where the event has no time.
  [[nodiscard]] double next(double now);
  /// Forgets those left: events that came while others were handled have the present time.
  void clear() { presses_.clear(); }

 private:
  std::deque<double> presses_;    // the server's clock, s
  std::optional<double> offset_;  // GLFW's clock minus the server's
};

}  // namespace raylift::viewer
