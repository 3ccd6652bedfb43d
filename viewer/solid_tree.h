// SPDX-License-Identifier: Apache-2.0
// The panel with the tree of solids: search, visibility, selection. Dear ImGui.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "find.h"
#include "viewer_state.h"

namespace raylift::viewer {

class SolidTree {
 public:
  void draw(ViewerState& state);

 private:
  struct Row {
    std::uint32_t node;      ///< kNone: of an instance without a node
    std::uint32_t instance;  ///< kNone: of a node without one
    int depth;
    bool open;
    bool has_children;
  };
  [[nodiscard]] bool searching() const { return search_[0] != '\0'; }
  void draw_search(ViewerState& state);
  void draw_row(ViewerState& state, const Row& row);
  void draw_checkbox(ViewerState& state, const Row& row);
  void list_rows(const Solids& solids);

  const Solids* listed_ = nullptr;
  std::vector<Row> rows_;
  std::unordered_set<std::uint32_t> open_;
  bool rows_stale_ = true;
  std::array<char, 128> search_{};
  Found found_;  // by the search
};

}  // namespace raylift::viewer
