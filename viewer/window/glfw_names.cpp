// SPDX-License-Identifier: Apache-2.0
#include "window/glfw_names.h"

#include <GLFW/glfw3.h>

#include <array>
#include <cstddef>

namespace raylift::viewer {

std::string key_name(int key) {
  if (key >= GLFW_KEY_F1 && key <= GLFW_KEY_F25) return "F" + std::to_string(key - GLFW_KEY_F1 + 1);
  if (key >= GLFW_KEY_KP_0 && key <= GLFW_KEY_KP_9) return std::to_string(key - GLFW_KEY_KP_0);
  if (key == GLFW_KEY_SPACE) return "Space";
  if (key > GLFW_KEY_SPACE && key <= GLFW_KEY_GRAVE_ACCENT) return {static_cast<char>(key)};  // ASCII
  constexpr std::array<const char*, 4> kFromDown{"Down", "Up", "Page Up", "Page Down"};
  if (key >= GLFW_KEY_DOWN && key <= GLFW_KEY_PAGE_DOWN)
    return kFromDown[static_cast<std::size_t>(key - GLFW_KEY_DOWN)];
  if (key == GLFW_KEY_BACKSPACE) return "Backspace";
  if (key == GLFW_KEY_HOME) return "Home";
  if (key == GLFW_KEY_ENTER || key == GLFW_KEY_KP_ENTER) return "Enter";
  return key == GLFW_KEY_ESCAPE ? "Escape" : "";
}

std::string drag_name(int button) {
  return button == GLFW_MOUSE_BUTTON_LEFT    ? "left drag"
         : button == GLFW_MOUSE_BUTTON_RIGHT ? "right drag"
                                             : "middle drag";
}

}  // namespace raylift::viewer
