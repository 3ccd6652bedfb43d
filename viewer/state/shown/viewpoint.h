// SPDX-License-Identifier: Apache-2.0
// Where the scene is seen from: the camera, what it frames, and how fast it flies.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "state/shown/appearance.h"

namespace raylift::viewer {

class Viewpoint {
 public:
  Viewpoint(ShownScene& shown, const Selection& selection, Appearance& appearance)
      : shown_(shown), selection_(selection), appearance_(appearance) {}

  /// Whether the camera moved within the last 180 ms.
  [[nodiscard]] bool moving() const;
  template <class Change>  // void(Camera&)
  void move(const Change& change) {
    change(shown_.camera);
    framed_.clear();
    shown_.moved();
  }
  void set_orthographic(bool orthographic);
  /// Looks from this side, and frames the scene.
  void look(StandardView view);
  /// Looks at the target from an axis' end, along the axis, which points to the camera.
  void look_along(const Eigen::Vector3d& axis);
  /// Frames all that is shown in full.
  void frame_all();
  /// Makes this view the first one, which go_home() gives again.
  void set_home() { home_ = {shown_.camera, framed_, framed_zoom_}; }
  /// The first view of the scene, whatever was hidden or clipped since, in the projection of now. Nothing is faint for
  /// being in the way.
  void go_home();
  /// Frames solids, and draws faintly what stands before them.
  void focus(std::span<const std::uint32_t> instances);
  /// Frames solids, and draws all others faintly, as --focus does.
  void focus_alone(std::span<const std::uint32_t> instances);
  /// Frames the selected solids, or everything where none is selected.
  void focus_selection();
  /// Sets the camera, but for the free part of the image. `framed`: the points that it frames by this zoom; none: it is
  /// not to be framed again.
  void set(const Camera& camera, std::vector<Eigen::Vector3d> framed = {}, double zoom = 1);

  /// Sets the size of the image, in pixels, and frames anew what was framed and not moved since; so does the next.
  void set_framebuffer(const Resolution& size);
  /// The part of the image that panels leave free, in shares of its size from the lower left.
  void set_free_part(const Eigen::Vector2d& low, const Eigen::Vector2d& high);
  /// The point under the cursor, on the plane through the target that faces the camera.
  [[nodiscard]] Eigen::Vector3d point_under(const Cursor& cursor) const;

  /// Times the usual speed.
  [[nodiscard]] double fly_speed() const { return fly_speed_; }
  void set_fly_speed(double speed) { fly_speed_ = speed; }
  /// Flies faster by so many steps, with a message.
  void change_fly_speed(double steps);

 private:
  void frame(std::span<const std::uint32_t> instances, double zoom);
  void frame(const std::vector<Eigen::Vector3d>& points, double zoom);
  void frame_again();

  ShownScene& shown_;
  const Selection& selection_;
  Appearance& appearance_;
  std::vector<Eigen::Vector3d> framed_;  // points that the camera frames; none after a move by hand
  double framed_zoom_ = 1;
  struct Home {
    Camera camera;
    std::vector<Eigen::Vector3d> framed;
    double zoom = 1;
  } home_;
  double fly_speed_ = 1;
};

}  // namespace raylift::viewer
