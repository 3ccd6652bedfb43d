// SPDX-License-Identifier: Apache-2.0
// The panels over the image: solids, facts, device, bookmarks, image settings, selection, and activity. Dear
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
#include "window/controls/controls.h"
#include "window/items/docks.h"
#include "window/items/panel_items.h"
#include "window/panels/legend_panel.h"
#include "window/panels/light_panel.h"
#include "window/panels/open_panel.h"
#include "window/panels/solid_tree.h"
#include "window/panels/surface_list.h"
#include "window/panels/thumbnails.h"

namespace raylift::viewer {

class Panels {
 public:
  /// The panels show all of these, and change the state and the layout. All must outlive the panels.
  Panels(ViewerState& state, SceneLoader& loader, FrameScheduler& frames, WindowLayout& layout)
      : state_(state), loader_(loader), frames_(frames), layout_(layout) {}

  /// Draws the panels for a window of this size, within an ImGui frame.
  void draw(float width, float height);
  /// The corners of the part of the window without panels, in shares of its size from the upper left.
  [[nodiscard]] std::pair<Eigen::Vector2d, Eigen::Vector2d> free_part(float width, float height) const;
  /// Passes a key to the dialog for opening files.
  void press(std::string_view key) { open_.press(key); }
  /// The names of files that they show since the last call.
  [[nodiscard]] std::string new_names();
  /// The face of the clipping box whose handle is under the cursor; none without panels.
  [[nodiscard]] std::optional<std::size_t> handle_under(const Cursor& cursor) const;
  /// Where they were drawn last.
  [[nodiscard]] const DockLayout& places() const { return docks_.layout(); }
  /// False: the next image has other places.
  [[nodiscard]] bool settled() const { return docks_.settled(); }

 private:
  void draw_tools();
  void draw_view_menu();
  void draw_ray_menu();
  void draw_picture_menu();
  void draw_scene();
  void draw_selected();
  void draw_measurement();
  void draw_image();
  void draw_legend();
  void draw_bookmarks();
  [[nodiscard]] bool draw_bookmark(const Bookmark& bookmark);
  void draw_renaming(std::size_t index);
  void draw_recent_files();
  void draw_activity(float height);
  void draw_message(float height) const;

  ViewerState& state_;
  SceneLoader& loader_;
  FrameScheduler& frames_;
  WindowLayout& layout_;
  SolidTree tree_;
  SurfaceList surfaces_;
  bool tree_shown_ = false;  // in this frame
  LegendPanel legend_;
  LightPanel light_;
  OpenPanel open_;
  Docks docks_;
  SectionScroll scroll_;       // of the image's settings
  bool legend_before_ = true;  // the layout's, in the last frame
  Thumbnails thumbnails_;
  struct RecentFile {
    std::string path, why_not;
  };
  std::vector<RecentFile> recent_;  // as of recent_until_
  std::chrono::steady_clock::time_point recent_until_{};
  std::vector<std::string> named_;       // recent files whose names new_names() has given
  std::array<char, 64> bookmark_{};      // the name being typed
  std::optional<std::string> renaming_;  // the bookmark that gets another name
  std::array<char, 64> renamed_{};
};

}  // namespace raylift::viewer
