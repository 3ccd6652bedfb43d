// SPDX-License-Identifier: Apache-2.0
// The state of the viewer: parts of one idea each, and what ties them: the scene, the requests for files, bookmarks.
// Methods that change the image raise revision(), so that no caller has to ask for a redraw. Data flows one way:
// controls and panels change the state, SceneLoader adds what the state asks for, and FrameScheduler draws the state.
#pragma once

#include <raylift/geometry/checks/check.h>
#include <raylift/geometry/scene/scene.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/image.h"
#include "meshes/levels.h"
#include "rays/device_scene.h"
#include "state/options/bookmarks.h"
#include "state/options/camera_path.h"
#include "state/options/view_options.h"
#include "state/shown/appearance.h"
#include "state/shown/clipping.h"
#include "state/shown/hover.h"
#include "state/shown/light_state.h"
#include "state/shown/measuring.h"
#include "state/shown/remembered.h"
#include "state/shown/selection.h"
#include "state/shown/viewpoint.h"

namespace raylift::viewer {

class ViewerState {
 public:
  /// `framebuffer` is the size of the image. It must not be empty.
  ViewerState(const ViewOptions& options, const Resolution& framebuffer);
  ViewerState(const ViewerState&) = delete;
  ViewerState& operator=(const ViewerState&) = delete;

  // The parts.
  [[nodiscard]] Selection& selection() { return selection_; }
  [[nodiscard]] const Selection& selection() const { return selection_; }
  [[nodiscard]] Appearance& appearance() { return appearance_; }
  [[nodiscard]] const Appearance& appearance() const { return appearance_; }
  [[nodiscard]] Viewpoint& viewpoint() { return viewpoint_; }
  [[nodiscard]] const Viewpoint& viewpoint() const { return viewpoint_; }
  [[nodiscard]] Clipping& clipping() { return clipping_; }
  [[nodiscard]] Measuring& measuring() { return measuring_; }
  [[nodiscard]] const Measuring& measuring() const { return measuring_; }
  [[nodiscard]] LightState& light() { return light_; }
  [[nodiscard]] const LightState& light() const { return light_; }
  [[nodiscard]] Messages& messages() { return shown_.messages; }
  [[nodiscard]] const Messages& messages() const { return shown_.messages; }

  // What is shown.
  [[nodiscard]] const std::shared_ptr<const Scene>& scene() const { return shown_.scene; }
  /// Null where there is no scene.
  [[nodiscard]] const Solids* solids() const { return shown_.solids.get(); }
  /// Null where there is no scene.
  [[nodiscard]] const std::shared_ptr<SolidMeasurer>& measurer() const { return shown_.measurer; }
  [[nodiscard]] const Photons& photons() const { return shown_.photons; }
  [[nodiscard]] const Settings& settings() const { return shown_.settings; }
  [[nodiscard]] const Camera& camera() const { return shown_.camera; }
  [[nodiscard]] const Resolution& framebuffer() const { return shown_.framebuffer; }
  /// Raised by every change of the image.
  [[nodiscard]] std::uint64_t revision() const { return shown_.revision; }
  template <class Change>  // void(Settings&)
  void change_settings(const Change& change) {
    change(shown_.settings);
    ++shown_.revision;
  }
  template <class Change>  // void(Solids&)
  void change_solids(const Change& change) {
    if (!shown_.solids) return;
    std::invoke(change, *shown_.solids);
    ++shown_.revision;
  }

  /// What a resting cursor shows of what it met.
  [[nodiscard]] HoverText hover_text(const Picked& picked, const Cursor& cursor) const {
    return viewer::hover_text(shown_, picked, cursor);
  }

  // Files.
  [[nodiscard]] const ViewOptions& options() const { return options_; }
  /// The file that is shown or being loaded; empty: none yet.
  [[nodiscard]] const std::string& file() const { return file_; }
  void open(const std::string& file);
  /// Offers these files in the panel, and opens the first.
  void open(const std::vector<std::string>& files);
  void reload();
  /// Goes back to the file that is shown, with its bookmarks, after another one was not read. Where none is shown, the
  /// file stays, for reload().
  void keep_shown_file();
  /// Raised by each open(): SceneLoader loads file() whenever it changes.
  [[nodiscard]] std::uint64_t requests() const { return requests_; }
  /// The value of requests() whose scene is shown; 0: none yet.
  [[nodiscard]] std::uint64_t shown_request() const { return shown_request_; }

  // Results of SceneLoader.
  void show(std::shared_ptr<const Scene> scene);
  /// Null while the check runs.
  [[nodiscard]] const std::shared_ptr<const SceneCheck>& check() const { return check_; }
  void set_check(SceneCheck check) { check_ = std::make_shared<const SceneCheck>(std::move(check)); }
  /// Simplified meshes of the scene; null: not made.
  [[nodiscard]] const std::shared_ptr<const Detail>& detail() const { return detail_; }
  /// Asks for detail(), since drawing is slow.
  void want_detail() { wants_detail_ = true; }
  [[nodiscard]] bool wants_detail() const { return wants_detail_ && !detail_; }
  void set_detail(Detail detail);
  /// Overlaps of solids that are marked; null: none were looked for.
  [[nodiscard]] const std::shared_ptr<const OverlapMarks>& overlaps() const { return settings().overlaps; }
  /// Asks for a search.
  void want_overlaps() { wants_overlaps_ = scene() != nullptr; }
  [[nodiscard]] bool wants_overlaps() const { return wants_overlaps_; }
  void stop_wanting_overlaps() { wants_overlaps_ = false; }
  void set_overlaps(std::shared_ptr<const OverlapMarks> marks);
  /// Frames the place of an overlap, and selects its first solid.
  void show_overlap(std::size_t number);
  /// Whether the image needs the scene on a device.
  [[nodiscard]] bool wants_device_scene() const;
  [[nodiscard]] const std::shared_ptr<const DeviceScene>& device_scene() const { return device_scene_; }
  void set_device_scene(std::shared_ptr<const DeviceScene> scene);

  // What is kept in files.
  [[nodiscard]] const Bookmarks& bookmarks() const { return bookmarks_; }
  /// Reads bookmarks again that could not be read, once their file has changed. Then their error is no longer shown.
  void reread_bookmarks();
  /// The default name is that of its key: "view 1".
  void add_bookmark(std::string name = {}, std::optional<int> key = std::nullopt);
  /// Saves the view as the bookmark with this key, 0 to 9: anew where there is one, else by a default name.
  void bookmark_key(int key);
  /// Goes to the bookmark with this key. A message says where there is none.
  void go_to_key(int key);
  /// The name of the bookmark that still lacks its thumbnail; empty: none does. An image that has changed since the
  /// bookmark was saved is not its image.
  [[nodiscard]] std::string wants_thumbnail() const {
    return revision() == thumbnail_of_ || light_.playing() ? wants_thumbnail_ : "";
  }
  /// Saves the image of that bookmark. A failure is ignored: the bookmark is there without one.
  void set_thumbnail(const Image& image);
  void remove_bookmark(std::size_t index);
  void rename_bookmark(std::size_t index, const std::string& name);
  void go_to(const Bookmark& bookmark);
  /// Moves the camera along the bookmarks with these names in so many seconds. Throws Error(usage).
  void play_path(const std::vector<std::string>& names, double seconds);
  [[nodiscard]] bool plays_path() const { return path_.has_value(); }
  void advance_path(double seconds);
  void stop_path() { path_.reset(); }
  /// Keeps recent files and the speed of flying in this file from now on. Failures to read or write it are ignored.
  void remember(const std::filesystem::path& file);
  /// The files that windows showed, the last one first; none until remember().
  [[nodiscard]] const std::vector<std::string>& recent_files() const { return remembered_.files(); }
  /// Saves the speed of flying, where it has changed.
  void keep_fly_speed();

 private:
  void note_bookmarks_error();
  /// Applies the options' camera and clipping to a scene of a new file.
  void open_view(std::vector<std::string>& warnings);

  ViewOptions options_;
  ShownScene shown_;
  Selection selection_{shown_};
  Appearance appearance_{shown_, selection_};
  Viewpoint viewpoint_{shown_, selection_, appearance_};
  Clipping clipping_{shown_, selection_, appearance_};
  Measuring measuring_{shown_};
  LightState light_{shown_, options_};
  Bookmarks bookmarks_;
  std::string wants_thumbnail_;
  std::uint64_t thumbnail_of_ = 0;  // the revision that was saved
  struct PlayedPath {
    CameraPath path;
    double seconds = 0, now = 0;
    std::optional<std::size_t> bookmark = {};  ///< the one that the path is at, or behind
  };
  std::optional<PlayedPath> path_;
  std::string bookmarks_error_;                     // the message of a file that can't be read
  std::filesystem::file_time_type bookmarks_time_;  // of that file
  Remembered remembered_;
  std::string file_;
  std::string shown_file_;  // the file of the scene
  std::uint64_t requests_ = 0, shown_request_ = 0;
  std::shared_ptr<const SceneCheck> check_;
  std::shared_ptr<const Detail> detail_;
  bool wants_detail_ = false;
  bool wants_overlaps_ = false;
  std::shared_ptr<const DeviceScene> device_scene_;
};

}  // namespace raylift::viewer
