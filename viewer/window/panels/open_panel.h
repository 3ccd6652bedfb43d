// SPDX-License-Identifier: Apache-2.0
// The dialog that opens a scene: folders, files, recent files. Dear ImGui; no window.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "state/viewer_state.h"
#include "window/controls/controls.h"
#include "window/controls/file_browser.h"

namespace raylift::viewer {

class OpenPanel {
 public:
  /// Draws the dialog in a window of this size where the layout has it. It closes once a file is chosen, and opens
  /// that.
  void draw(ViewerState& state, WindowLayout& layout, float width, float height);
  /// Takes a pressed key: "Enter", "Up". ImGui misses keys that are released before the next frame.
  void press(std::string_view key) {
    if (open_) keys_.emplace_back(key);
  }
  /// The names that it shows since the last call: their letters are needed.
  [[nodiscard]] std::string new_names();

 private:
  void begin(const ViewerState& state);
  void draw_places(ViewerState& state, WindowLayout& layout);
  void draw_path();
  void draw_entries(ViewerState& state, WindowLayout& layout);
  void act_on_keys(ViewerState& state, WindowLayout& layout);
  void go(const std::filesystem::path& folder);
  void enter(ViewerState& state, WindowLayout& layout);

  FileBrowser browser_;
  std::array<char, 4096> text_{};
  std::vector<std::string> keys_;  // pressed since the last frame
  bool open_ = false;
  bool reveal_ = false;  // scrolls to the chosen entry
  std::uint64_t named_ = 0;
};

}  // namespace raylift::viewer
