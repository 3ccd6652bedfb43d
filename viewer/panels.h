// SPDX-License-Identifier: Apache-2.0
// The panels over the picture: solids, facts, device, bookmarks, the choices of the picture, what is selected, help.
// Dear ImGui; no window.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "desk.h"

namespace raylift::viewer {

struct KeyHelp {
  std::string_view keys;
  std::string_view what;
};
/// What the keys and the mouse do; the help window's text, and the manual's.
[[nodiscard]] const std::vector<KeyHelp>& key_help();

class Panels {
 public:
  bool visible = true;
  bool help = false;

  /// Draws all of them for a window of this size, within an ImGui frame.
  void draw(Desk& desk, float width, float height);

 private:
  struct Row {
    std::uint32_t node;  ///< kNone: of an instance without a node
    std::uint32_t instance;
    int depth;
    bool open;
    bool has_children;
  };
  void draw_solids(Desk& desk);
  void draw_facts(const Desk& desk);
  void draw_device(const Desk& desk);
  void draw_bookmarks(Desk& desk);
  void draw_picture(Desk& desk, float width);
  void draw_selection(Desk& desk, float height);
  void draw_activity(const Desk& desk, float width, float height);
  void draw_help(float width, float height);
  void list_rows(const Desk& desk);

  const Solids* listed_ = nullptr;
  std::vector<Row> rows_;
  std::unordered_set<std::uint32_t> open_;
  bool rows_stale_ = true;
  std::array<char, 128> search_{};
  std::array<char, 64> bookmark_{};
};

}  // namespace raylift::viewer
