// SPDX-License-Identifier: Apache-2.0
// The dialog that opens a scene: folders, files, those that were opened last. Dear ImGui; no window.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "state/viewer_state.h"
#include "window/controls.h"
#include "window/file_browser.h"

namespace raylift::viewer {

class OpenPanel {
 public:
  /// Draws it in a window of this size where the layout has it; what is chosen is opened, and the dialog closes.
  void draw(ViewerState& state, WindowLayout& layout, float width, float height);
  /// A key was pressed: "Enter", "Up". ImGui sees none that is let go before the next image.
  void press(std::string_view key) {
    if (open_) keys_.emplace_back(key);
  }
  /// The names that it shows since it was asked last: their letters are needed.
  [[nodiscard]] std::string take_names();

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
  std::vector<std::string> keys_;  // pressed since the last image
  bool open_ = false;
  bool reveal_ = false;  // the chosen entry is to be scrolled to
  std::uint64_t named_ = 0;
};

}  // namespace raylift::viewer
