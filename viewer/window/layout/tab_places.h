// SPDX-License-Identifier: Apache-2.0
// Where the tabs of a panel are: all of them are seen, however narrow it is. No ImGui, no GL.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace raylift::viewer {

struct TabWish {
  float word = 0, icon = 0;  ///< widths, px; icon 0: the icons' font is missing
};

struct TabPlace {
  float left = 0, width = 0;
  int row = 0;
  bool word = true;  ///< whether it shows its word; else its icon
};

/// Words, where one row has room for all; else icons, with the word of the chosen one where there is room; else several
/// rows.
[[nodiscard]] std::vector<TabPlace> place_tabs(std::span<const TabWish> tabs, std::size_t chosen, float room,
                                               float gap);

}  // namespace raylift::viewer
