// SPDX-License-Identifier: Apache-2.0
// The toolbar at the left edge: icons that open panels, sections and menus. Dear ImGui; no window.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "window/dock_layout.h"

namespace raylift::viewer {

struct Tool {
  const char* icon;
  const char* word;  ///< in its place where the icons' font is missing
  std::string help;
  bool on = false;
  bool apart = false;            ///< a line above it
  std::function<void()> act;     ///< of a click
  std::function<void()> menu{};  ///< the items of the menu that a click opens instead
};

/// Draws them below each other; those without room are in a menu behind the last one.
void draw_toolbar(const Rectangle& at, const std::vector<Tool>& tools);

}  // namespace raylift::viewer
