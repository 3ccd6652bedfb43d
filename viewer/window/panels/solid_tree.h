// SPDX-License-Identifier: Apache-2.0
// The panel with the tree of solids: search, visibility, selection. Dear ImGui.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "model/solids/find.h"
#include "state/viewer_state.h"
#include "window/controls/tree_rows.h"

namespace raylift::viewer {

class SolidTree {
 public:
  /// Returns the height that all rows would have beyond that of the tree, px. With `to_search`, which it clears, the
  /// cursor goes to the search. `compact`: in a short panel; the search is on the line of the last item, with a menu
  /// for its buttons, and rows are lower.
  float draw(ViewerState& state, bool& to_search, bool compact = false);

 private:
  [[nodiscard]] bool searching() const { return search_[0] != '\0'; }
  void draw_search(ViewerState& state, bool& to_search, bool compact);
  void draw_buttons(ViewerState& state);
  /// The number of solids that the search finds, or of all.
  [[nodiscard]] std::string count_shown(const ViewerState& state) const;
  void draw_row(ViewerState& state, const TreeRow& row);
  void draw_checkbox(ViewerState& state, const TreeRow& row);
  /// Opens the rows above the selected solid's, and scrolls to it, where the selection has changed elsewhere.
  void reveal_selection(const ViewerState& state);
  void list_rows(const Solids& solids);

  std::uint64_t revealed_ = 0;  // Selection::version()
  int reveals_ = 0;             // frames in which it is scrolled to: the selection's panel may open below the tree

  const Solids* listed_ = nullptr;
  std::vector<TreeRow> rows_;
  std::unordered_set<std::uint32_t> open_;
  bool rows_stale_ = true;
  float indent_ = 0;
  std::array<char, 128> search_{};
  Found found_;  // by the search
};

}  // namespace raylift::viewer
