// SPDX-License-Identifier: Apache-2.0
// The panels over the image: solids, facts, device, bookmarks, image settings, selection, activity and help. Dear
// ImGui; no window.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "state/frame_scheduler.h"
#include "state/scene_loader.h"
#include "state/viewer_state.h"
#include "window/controls.h"
#include "window/legend_panel.h"
#include "window/light_panel.h"
#include "window/open_panel.h"
#include "window/solid_tree.h"

namespace raylift::viewer {

class Panels {
 public:
  /// They show all of these, and change the state and the layout. All must outlive the panels.
  Panels(ViewerState& state, SceneLoader& loader, const FrameScheduler& frames, WindowLayout& layout)
      : state_(state), loader_(loader), frames_(frames), layout_(layout) {}

  /// Draws them for a window of this size, within an ImGui frame.
  void draw(float width, float height);
  /// The part of the window that they left free, in shares of its size from the upper left: its corners. All of it,
  /// where little would be left.
  [[nodiscard]] std::pair<Eigen::Vector2d, Eigen::Vector2d> free_part(float width, float height) const;
  /// A key that the dialog for opening files may take.
  void press(std::string_view key) { open_.press(key); }
  /// The names of files that they show since they were asked last.
  [[nodiscard]] std::string take_names() { return open_.take_names(); }
  /// The face of the clipping box whose handle is under the cursor. Handles are there where panels are.
  [[nodiscard]] std::optional<std::size_t> handle_under(const Cursor& cursor) const;

 private:
  void draw_scene(float width, float height);
  void draw_chosen(float width, float height);
  void draw_bookmarks();
  void draw_recent_files();
  void draw_activity(float width, float height);
  void draw_message(float width, float height) const;
  void draw_help(float width, float height);

  ViewerState& state_;
  SceneLoader& loader_;
  const FrameScheduler& frames_;
  WindowLayout& layout_;
  SolidTree tree_;
  LegendPanel legend_;
  LightPanel light_;
  OpenPanel open_;
  bool small_ = false;          // the window, and its panels begin closed
  float scene_width_ = 0;       // of the scene's panel, when it was drawn last
  float left_ = 0, right_ = 0;  // widths that panels take at the sides
  struct RecentFile {
    std::string path, why_not;
  };
  std::vector<RecentFile> recent_;  // as they were when they were looked at last
  std::chrono::steady_clock::time_point recent_until_{};
  std::array<char, 64> bookmark_{};  // the name being typed
};

}  // namespace raylift::viewer
