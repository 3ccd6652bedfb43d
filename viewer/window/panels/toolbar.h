// SPDX-License-Identifier: Apache-2.0
// The toolbar at the left edge: icons that open panels, sections and menus. Dear ImGui; no window.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "window/layout/dock_layout.h"

namespace raylift::viewer {

struct Tool {
  const char* icon;
  const char* word;  ///< in its place where the icons' font is missing
  const char* does;  ///< a verb, and what it does that to: in a menu
  std::string help;
  bool on = false;
  bool apart = false;            ///< a line above it
  std::function<void()> act;     ///< of a click
  std::function<void()> menu{};  ///< the items of the menu that a click opens instead
};

/// The rows of the menus that have a key: their labels, and the help of the control in controls.cpp that does the same.
struct KeyedRow {
  const char* label;
  const char* help;
};
/// In the order of kViewNames.
inline constexpr std::array<KeyedRow, 7> kViewRows{{{"Front", "view from the front"},
                                                    {"Back", "view from the back"},
                                                    {"Left", "view from the left"},
                                                    {"Right", "view from the right"},
                                                    {"Top", "view from the top"},
                                                    {"Bottom", "view from the bottom"},
                                                    {"Isometric", "isometric view"}}};
inline constexpr KeyedRow kOrthographicRow{"Orthographic projection", "orthographic"},
    kFirstViewRow{"First view", "the first view again"},
    kFrameSceneRow{"Frame all that is shown", "frame all that is shown"},
    kFrameSelectionRow{"Frame the selection", "frame the selected solid"},
    kSaveRow{"Save the image as PNG", "save the image"}, kLegendRow{"Legend", "legend of the colours"},
    kFullScreenRow{"Full screen", "full screen"};
/// The key of the control with this help; empty where there is none.
[[nodiscard]] std::string key_of(std::string_view help);

/// The keys that a tool's help ends with, in parentheses: "X, Ctrl+X".
[[nodiscard]] std::string keys_in(const std::string& help);

/// Draws them below each other; those without room are in a menu behind the last one.
void draw_toolbar(const Rectangle& at, const std::vector<Tool>& tools);

}  // namespace raylift::viewer
