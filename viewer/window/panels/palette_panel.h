// SPDX-License-Identifier: Apache-2.0
// The panels of the command palette, of help, and of what lies under the cursor. Dear ImGui; no window.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "window/controls/command_palette.h"

namespace raylift::viewer {

class PalettePanel {
 public:
  /// `commands` may be null, and must outlive this.
  explicit PalettePanel(Commands* commands) : commands_(commands), palette_(commands) {}

  /// Draws it, where the layout has it, within an ImGui frame.
  void draw(const ControlTarget& to, float width, float height);
  /// Passes a key to it.
  void press(std::string_view key) { keys_.emplace_back(key); }
  /// Passes a letter to it, by its code point, that comes before its field has the keyboard: as one that is typed in
  /// one go with the key that opens it.
  void type(unsigned letter);

 private:
  void act_on_keys(const ControlTarget& to);
  void enter(const ControlTarget& to);
  void set_text(const std::string& text);
  void draw_rows(const ControlTarget& to);

  Commands* commands_;
  CommandPalette palette_;
  std::array<char, 512> text_{};
  std::vector<std::string> keys_;
  std::string ahead_;
  bool open_ = false, reveal_ = false;
  bool cursor_to_end_ = false;
  int field_ = 0;  // number of the text field
};

/// Keys and gestures by their groups, in as many columns as fit.
void draw_help(const ControlTarget& to, float width, float height);

}  // namespace raylift::viewer
