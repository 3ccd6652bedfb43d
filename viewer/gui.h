// SPDX-License-Identifier: Apache-2.0
// GLFW's library and Dear ImGui, each as an object that ends what it began.
#pragma once

#include <string>

struct GLFWwindow;

namespace raylift::viewer {

class Glfw {
 public:
  /// Throws Error(no_display).
  Glfw();
  ~Glfw();
  Glfw(const Glfw&) = delete;
  Glfw& operator=(const Glfw&) = delete;
  /// GLFW's description of the last error.
  [[nodiscard]] static const std::string& last_error();
};

/// Dear ImGui on a window, whose context must be current.
class Gui {
 public:
  explicit Gui(GLFWwindow* window);
  ~Gui();
  Gui(const Gui&) = delete;
  Gui& operator=(const Gui&) = delete;

  void begin_frame();
  void end_frame();
};

}  // namespace raylift::viewer
