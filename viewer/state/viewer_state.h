// SPDX-License-Identifier: Apache-2.0
// What the viewer shows, and how. State changes only through methods, and those that change the image raise revision(),
// so that no caller has to remember to ask for a redraw. Data flows one way: controls and panels change the state,
// SceneLoader puts in what the state asks for, and FrameScheduler draws the state.
#pragma once

#include <raylift/geometry/checks/check.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/scene.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "draw/photon_layer.h"
#include "light/live_light.h"
#include "light/photons.h"
#include "meshes/detail.h"
#include "meshes/draw_list.h"
#include "model/clip_box.h"
#include "model/solid_facts.h"
#include "model/solids.h"
#include "rays/device_scene.h"
#include "state/bookmarks.h"
#include "state/remembered.h"
#include "state/view_options.h"

namespace raylift::viewer {

/// The selected solid, or group of solids, as the panel shows it.
struct Selection {
  std::uint32_t instance = kNone;         ///< kNone: a group
  std::uint32_t group = kNone;            ///< the node that is selected with all solids at and below it; kNone: a solid
  std::vector<std::uint32_t> solids;      ///< that are selected
  std::optional<std::uint32_t> triangle;  ///< in its mesh; none of a cap, or where the solid was selected by name
  bool clicked = false;                   ///< not by name
  Eigen::Vector3d position{0, 0, 0};      ///< in the world, mm: the clicked point, or the centre of the solid's box
  std::string name, path, mesh, inside, outside;
  std::string entering, leaving;   ///< the optical surfaces from its mother into it and back, and why these
  std::uint32_t material = kNone;  ///< inside
  std::uint32_t surface_in = kNone, surface_out = kNone;  ///< indices in Optics::surfaces
};

/// The facts of a selection that are still to be worked out.
struct FactsRequest {
  std::uint64_t selection = 0;  ///< ViewerState::selections()
  std::shared_ptr<SolidMeasurer> measurer;
  std::vector<std::uint32_t> solids;
  std::shared_ptr<const SceneCheck> check;  ///< null: not there yet
};

class ViewerState {
 public:
  /// `framebuffer` is the size of the image. It must not be empty.
  ViewerState(const ViewOptions& options, const Resolution& framebuffer);

  // Reading.
  [[nodiscard]] const ViewOptions& options() const { return options_; }
  /// The file that is shown or being loaded; empty: none yet.
  [[nodiscard]] const std::string& file() const { return file_; }
  /// Raised by each open(): SceneLoader loads file() whenever it changes.
  [[nodiscard]] std::uint64_t requests() const { return requests_; }
  [[nodiscard]] const std::shared_ptr<const Scene>& scene() const { return scene_; }
  /// Null where there is no scene.
  [[nodiscard]] const Solids* solids() const { return solids_.get(); }
  /// Null while the check runs.
  [[nodiscard]] const std::shared_ptr<const SceneCheck>& check() const { return check_; }
  [[nodiscard]] const std::shared_ptr<const DeviceScene>& device_scene() const { return device_scene_; }
  /// Whether the image needs the scene on a device.
  [[nodiscard]] bool wants_device_scene() const;
  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] const Camera& camera() const { return camera_; }
  /// The Look of each solid, and a number that changes with them.
  [[nodiscard]] const std::vector<std::uint8_t>& looks() const;
  [[nodiscard]] std::uint64_t looks_version() const {
    (void)looks();
    return looks_version_;
  }
  /// Whether the camera moved within the last 180 ms.
  [[nodiscard]] bool moving() const;
  [[nodiscard]] const std::optional<Selection>& selection() const { return selection_; }
  /// Raised by each change of the selection.
  [[nodiscard]] std::uint64_t selections() const { return selections_; }
  /// Of the selection; nothing where they are not worked out yet.
  [[nodiscard]] const std::optional<SolidFacts>& facts() const { return facts_; }
  /// What is to be worked out for facts(); nothing where all is there. Volumes follow once the check has ended.
  [[nodiscard]] std::optional<FactsRequest> facts_request() const;
  /// Of the scene's solids; null where there is none.
  [[nodiscard]] const std::shared_ptr<SolidMeasurer>& measurer() const { return measurer_; }
  /// The name and the path of the selection, and its facts, as text; empty where they are not worked out.
  [[nodiscard]] std::string selection_text() const;
  [[nodiscard]] const Photons& photons() const { return photons_; }
  /// Where light comes from.
  [[nodiscard]] LightOrigin light() const;
  /// Raised by each open_photons(): SceneLoader reads options().photons whenever it changes.
  [[nodiscard]] std::uint64_t photon_requests() const { return photon_requests_; }
  /// What light is to be followed; nothing where there is no source, or no scene.
  [[nodiscard]] std::optional<LightRequest> light_request() const;
  /// The scene on the device that follows it; null: not yet.
  [[nodiscard]] const std::shared_ptr<const GpuGeometry>& light_geometry() const { return light_geometry_; }
  /// Whether clicks put points to be measured between; these are settings().measured.
  [[nodiscard]] bool measuring() const { return measuring_; }
  /// Whether the photons' time runs.
  [[nodiscard]] bool playing() const { return playing_; }
  [[nodiscard]] const std::vector<Bookmark>& bookmarks() const { return bookmarks_.all(); }
  /// The bookmark of a name; null where there is none. Valid until the next change.
  [[nodiscard]] const Bookmark* find_bookmark(std::string_view name) const { return bookmarks_.find(name); }
  /// The files that windows showed, the last one first; none until remember().
  [[nodiscard]] const std::vector<std::string>& recent_files() const { return remembered_.files(); }
  /// Times the usual speed.
  [[nodiscard]] double fly_speed() const { return fly_speed_; }
  [[nodiscard]] const Resolution& framebuffer() const { return framebuffer_; }
  /// The last error, until the next success.
  [[nodiscard]] const std::string& error() const { return error_; }
  /// How much work has failed so far, and with what the last did.
  [[nodiscard]] std::uint64_t failures() const { return failures_; }
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }
  /// The value of requests() whose scene is shown; 0: none yet.
  [[nodiscard]] std::uint64_t shown_request() const { return shown_request_; }
  /// The last message, for some seconds; then empty.
  [[nodiscard]] std::string message() const;
  /// Raised by every change of the image.
  [[nodiscard]] std::uint64_t revision() const { return revision_; }

  // The scene. SceneLoader calls the methods that take results.
  void open(const std::string& file);
  /// Offers these files in the panel, and opens the first.
  void open(const std::vector<std::string>& files);
  void reload();
  void show(std::shared_ptr<const Scene> scene);
  /// Of the scene shown; null: not made.
  [[nodiscard]] const std::shared_ptr<const Detail>& detail() const { return detail_; }
  /// Drawing turned out to be slow: detail() is wanted.
  void want_detail() { wants_detail_ = true; }
  [[nodiscard]] bool wants_detail() const { return wants_detail_ && !detail_; }
  void set_detail(Detail detail) {
    detail_ = std::make_shared<const Detail>(std::move(detail));
    ++revision_;
  }
  void set_check(SceneCheck check) { check_ = std::make_shared<const SceneCheck>(std::move(check)); }
  /// Of the selection; those of an earlier one are dropped.
  void set_facts(std::uint64_t selection, SolidFacts facts);
  void set_device_scene(std::shared_ptr<const DeviceScene> scene);
  template <class Change>  // void(Solids&)
  void change_solids(const Change& change) {
    if (!solids_) return;
    std::invoke(change, *solids_);
    ++revision_;
  }

  // The image.
  void set_framebuffer(const Resolution& size);
  /// The part of the image that panels leave free, in shares of its size from the lower left. What was framed and not
  /// moved since is framed anew.
  void set_free_part(const Eigen::Vector2d& low, const Eigen::Vector2d& high);
  template <class Change>  // void(Settings&)
  void change_settings(const Change& change) {
    change(settings_);
    ++revision_;
  }
  template <class Change>  // void(Camera&)
  void move_camera(const Change& change) {
    change(camera_);
    framed_.clear();
    moved();
  }
  void set_orthographic(bool orthographic);
  void look(StandardView view);
  void frame_all();
  /// Frames solids, and draws faintly what stands before them.
  void focus(std::span<const std::uint32_t> instances);
  /// Frames solids, and draws all others faintly, as --focus does.
  void focus_alone(std::span<const std::uint32_t> instances);
  /// Frames the selected solid, or everything where none is selected.
  void focus_selection();

  // Selection.
  void select(std::optional<std::uint32_t> instance);
  /// Selects a node of the tree: the solids of the node and of all nodes below it.
  void select_group(std::uint32_t node);
  /// Selects the solid that a click at `cursor` met, or none.
  void select(const std::optional<Picked>& picked, const Cursor& cursor);
  void hide_selection();
  /// Of what is selected.
  void set_style(Style style);
  /// Of what of the selection is glass, as Solids::slide_opacity says.
  void slide_opacity(double opacity);
  void end_slide();
  /// Of all that is glass now.
  void set_glass(double opacity);
  /// Draws all others faintly. Where something is drawn in a style of its own already, or nothing is selected: none.
  void ghost_others();
  /// Takes the last change of what is hidden back.
  void undo();
  /// The point under the cursor, on the plane through the target that faces the camera.
  [[nodiscard]] Eigen::Vector3d point_under(const Cursor& cursor) const;

  // The clipping box.
  /// Around what is selected, or else around what is shown; or takes the box away.
  void toggle_clip_box();
  /// Around what is selected, or else around what is shown. It cuts as the box before did.
  void fit_clip_box();
  /// Moves a face to where the cursor is.
  void drag_clip_face(std::size_t face, const Cursor& cursor);

  // Measuring.
  /// Begins without points; the end takes them away.
  void set_measuring(bool measuring);
  /// At most kMaxMeasured.
  void set_measured(std::vector<Eigen::Vector3d> points);
  /// Adds the point that a click at `cursor` met; after kMaxMeasured it is the first again.
  void measure_at(const std::optional<Picked>& picked, const Cursor& cursor);

  // Light.
  /// Asks for photons of a file, in place of all light; `compare`: as --photon-compare.
  void open_photons(const std::string& path, const std::string& compare = {});
  void set_photons(std::shared_ptr<const PhotonSet> set);
  void set_light_geometry(std::shared_ptr<const GpuGeometry> geometry);
  /// In place of photons of a file. Throws Error(usage) for a text that is none.
  void set_source(const std::string& text);
  /// By so many of the image's pixels, in the plane through the source that faces the camera.
  void move_source(double right, double up, const Resolution& window);
  void select_photon(const std::optional<PickedPhoton>& picked);
  /// From the time that is set, or from the start.
  void play(bool playing);
  /// Lets time run by so many seconds of play.
  void advance(double seconds);
  /// Sets the time to a share of the photons' times more, or less.
  void step_time(double share);

  // What is kept from one time to the next.
  /// From now on, in this file. What can't be read or saved is not kept.
  void remember(const std::filesystem::path& file);
  /// Flies faster by so many steps, and tells so.
  void change_fly_speed(double steps);
  /// Saves the speed, where it has changed.
  void keep_fly_speed();

  // Bookmarks and messages.
  /// The default name is "view 1", or the next free one.
  void add_bookmark(std::string name = {});
  void remove_bookmark(std::size_t index);
  void go_to(const Bookmark& bookmark);
  /// Shows a message, in place of the last error.
  void say(const std::string& message);
  void dismiss_error() { error_.clear(); }
  /// Runs work. What it throws becomes the error shown, unless the work was cancelled.
  template <class Work>
  void attempt(const Work& work) {
    try {
      work();
    } catch (const Error& failure) {
      fail(failure);
    } catch (const std::bad_alloc&) {
      fail(Error(ErrorKind::out_of_host_memory, "no memory left"));
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  void fail(const Error& failure);
  void moved();
  void note_shown_file();
  void go_to_light(const LightOrigin& light);
  /// In its mesh; kNone: of a cap.
  [[nodiscard]] std::uint32_t triangle_of(const Picked& picked) const;
  /// The clicked point in the world; nothing where the triangle is seen from its edge.
  [[nodiscard]] std::optional<Eigen::Vector3d> picked_point(const Picked& picked, const Cursor& cursor) const;
  void frame(std::span<const std::uint32_t> instances);
  [[nodiscard]] double aspect() const { return static_cast<double>(framebuffer_.width) / framebuffer_.height; }

  ViewOptions options_;
  Settings settings_;
  Camera camera_;
  Resolution framebuffer_;
  std::string file_;
  std::string shown_file_;  // the file of scene_
  std::uint64_t requests_ = 0;
  std::shared_ptr<const Scene> scene_;
  std::unique_ptr<Solids> solids_;
  MeshOffsets offsets_;
  std::vector<std::uint32_t> framed_;  // that the camera shows; none after a move by hand
  double framed_zoom_ = 1;
  std::vector<std::uint32_t> in_the_way_;  // of the last focus
  struct LooksKey {
    std::uint64_t solids = 0;
    bool clipped = false;
    Shells shells = Shells::faint;
    std::vector<std::uint32_t> in_the_way;
    friend bool operator==(const LooksKey&, const LooksKey&) = default;
  };
  mutable std::optional<LooksKey> looks_of_;
  mutable std::vector<std::uint8_t> looks_;
  mutable std::uint64_t looks_version_ = 0;
  std::shared_ptr<const SceneCheck> check_;
  std::shared_ptr<const Detail> detail_;
  bool wants_detail_ = false;
  std::shared_ptr<const DeviceScene> device_scene_;
  std::optional<Selection> selection_;
  std::uint64_t selections_ = 0;
  std::shared_ptr<SolidMeasurer> measurer_;
  std::optional<SolidFacts> facts_;
  Photons photons_;
  std::uint64_t photon_requests_ = 0;
  std::shared_ptr<const GpuGeometry> light_geometry_;
  Eigen::Vector3d source_moved_{0, 0, 0};
  bool playing_ = false;
  bool measuring_ = false;
  Bookmarks bookmarks_;
  Remembered remembered_;
  double fly_speed_ = 1;
  std::string error_, message_;
  std::optional<Error> failure_;
  std::uint64_t failures_ = 0;
  std::uint64_t shown_request_ = 0;
  Clock::time_point message_until_{}, last_move_{};
  std::uint64_t revision_ = 1;
};

}  // namespace raylift::viewer
