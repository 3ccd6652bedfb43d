// SPDX-License-Identifier: Apache-2.0
// What is on the desk of somebody who looks at a scene: the scene, how it is shown, what is selected, and the work that
// goes on behind. The window draws it and its panels change it. Needs a current OpenGL context.
#pragma once

#include <raylift/geometry/checks/check.h>
#include <raylift/geometry/scene/scene.h>
#include <raylift/interop/shared_geometry.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bookmarks.h"
#include "device_scene.h"
#include "ray_caster.h"
#include "renderer.h"
#include "solids.h"
#include "task.h"
#include "view_options.h"

namespace raylift::viewer {

/// The solid under the cursor, as a person is told of it.
struct Selection {
  std::uint32_t instance = 0;
  std::optional<std::uint32_t> triangle;  ///< in its mesh; none where it was chosen by name
  Eigen::Vector3d position{0, 0, 0};      ///< in the world, mm, of the point that was clicked
  std::string name, path, mesh, inside, outside;
};

class Desk {
 public:
  /// `window` is the size of what is drawn into, from the start: scenes are framed for it.
  Desk(const ViewOptions& options, const Resolution& window);

  // The scene.
  void open(const std::string& file);
  void reload();
  /// Takes in what the background has finished. True where something is to be drawn anew.
  bool poll();
  [[nodiscard]] bool loading() const { return loading_ != nullptr; }
  /// What goes on in the background, and how far it is (less than 0: not known); empty where nothing does.
  [[nodiscard]] std::pair<std::string, float> activity() const;

  // The picture.
  /// Draws what has changed into the renderer's picture, coarser while the camera moves and drawing is slow. False
  /// where nothing had.
  bool draw(const Resolution& window);
  /// Whether draw() has more to do without anybody's doing: ray-casting, or refining after a move.
  [[nodiscard]] bool busy() const;
  void changed() { dirty_ = true; }
  void moved();  ///< the camera did
  void frame_all();
  void focus(std::span<const std::uint32_t> instances);
  /// The solid under a pixel of the window. None: nothing is selected then.
  void pick(double x, double y, const Resolution& window);
  void select(std::optional<std::uint32_t> instance);
  /// The point of the scene under a pixel, or on the plane of the target where there is nothing.
  [[nodiscard]] Eigen::Vector3d point_under(double x, double y, const Resolution& window);
  /// Writes the picture, without panels, to a new file; returns its name.
  std::string screenshot();
  /// Without a name: "view 1", or the next one that is free.
  void add_bookmark(std::string name = {});
  void remove_bookmark(std::size_t index);
  void go_to(const Bookmark& bookmark);
  void say(const std::string& message);  ///< and nothing more of the last error

  ViewOptions options;
  Settings settings;
  Camera camera;
  Renderer renderer;
  std::unique_ptr<Scene> scene;
  std::unique_ptr<Solids> solids;
  std::optional<SceneCheck> check;
  std::unique_ptr<DeviceScene> device_scene;
  std::optional<Selection> selection;
  Bookmarks bookmarks;
  std::string file;     ///< that is shown or being loaded
  std::string error;    ///< of the last thing that failed; until the next success
  std::string message;  ///< for a few seconds
  std::chrono::steady_clock::time_point message_until;
  double draw_seconds = 0;        ///< of the last picture
  std::vector<float> draw_times;  ///< ms, the last ones
  double ray_progress = 1;

 private:
  using Clock = std::chrono::steady_clock;
  void take_scene(Scene fresh);
  void want_device_scene();
  void finish_device_scene();
  [[nodiscard]] std::optional<double> depth_of(const Picked& picked, double x, double y, const Resolution& window,
                                               Eigen::Vector3d& point) const;
  void watch();
  [[nodiscard]] double aspect() const { return static_cast<double>(window_.width) / window_.height; }
  template <class Work>
  void guarded(const Work& work);

  std::unique_ptr<Task<Scene>> loading_;
  std::unique_ptr<Task<SceneCheck>> checking_;
  std::optional<SharedUpload> shared_upload_;
  std::unique_ptr<Task<GpuGeometry>> uploading_;
  std::unique_ptr<RayCaster> caster_;
  bool upload_failed_ = false;
  std::string shown_file_;  // that `scene` is from
  bool dirty_ = true;
  bool coarse_ = false;
  Clock::time_point last_move_{};
  double full_seconds_ = 0;  // what a picture at full quality takes
  std::uint64_t shown_version_ = ~std::uint64_t{0};
  Resolution window_;  // not empty
  Clock::time_point next_watch_{};
  std::filesystem::file_time_type seen_{};
  std::filesystem::file_time_type loaded_{};
  int screenshots_ = 0;
};

}  // namespace raylift::viewer
