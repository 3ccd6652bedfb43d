// SPDX-License-Identifier: Apache-2.0
// The camera: where it stands, how mouse and keys move it, and how it frames a box. Pure arithmetic, no GL.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <Eigen/Geometry>
#include <optional>
#include <string>
#include <string_view>

namespace raylift::viewer {

enum class StandardView { front, back, left, right, top, bottom, iso };

/// "front", ...; throws Error(usage) with a suggestion.
[[nodiscard]] StandardView standard_view(std::string_view name);

/// The direction of an axis.
[[nodiscard]] Eigen::Vector3d axis(UpAxis up);

/// Looks from `eye()` at `target`. All lengths in millimetres of the world, in double.
class Camera {
 public:
  Eigen::Vector3d target = Eigen::Vector3d::Zero();
  double distance = 1000;       ///< from eye to target, more than 0
  double fov_degrees = 40;      ///< vertical
  bool orthographic = false;    ///< then what is seen is as high as in perspective at the target
  Eigen::Vector3d up{0, 0, 1};  ///< of the world: what orbiting turns about

  [[nodiscard]] Eigen::Vector3d forward() const { return orientation_ * Eigen::Vector3d(0, 0, -1); }
  [[nodiscard]] Eigen::Vector3d right() const { return orientation_ * Eigen::Vector3d(1, 0, 0); }
  [[nodiscard]] Eigen::Vector3d above() const { return orientation_ * Eigen::Vector3d(0, 1, 0); }
  [[nodiscard]] Eigen::Vector3d eye() const { return target - distance * forward(); }
  /// Half the height of the plane through the target that is seen.
  [[nodiscard]] double half_height() const;
  /// Millimetres per pixel at the target, of a picture `height` pixels high.
  [[nodiscard]] double pixel_size(int height) const { return 2 * half_height() / height; }

  /// Looks along `direction`, with `up_hint` upward in the picture where that is possible.
  void look(const Eigen::Vector3d& direction, const Eigen::Vector3d& up_hint);
  void look(StandardView view);
  /// From one point at another; throws Error(usage) where these are the same.
  void look_from(const Eigen::Vector3d& eye, const Eigen::Vector3d& at, const Eigen::Vector3d& up_hint);

  /// Turns about the target: radians around the world's up, and over the picture's horizontal.
  void orbit(double around, double over);
  /// Turns about the eye, likewise.
  void turn(double around, double over);
  /// Moves eye and target along the picture's axes, in millimetres.
  void pan(double to_right, double upward);
  /// Makes the distance `factor` times what it is. With a point, that point stays where it is in the picture.
  void zoom(double factor, const std::optional<Eigen::Vector3d>& about = std::nullopt);
  /// Moves eye and target: fly.
  void move(double forward, double to_right, double upward);
  /// Sees all of a box, as large as it gets in a picture of this width over height. An empty one changes nothing.
  void frame(const Bounds& bounds, double aspect);

  /// World relative to the eye -> camera axes (x right, y up, z backward): rows of the rotation.
  [[nodiscard]] Eigen::Matrix3d rotation() const { return orientation_.toRotationMatrix().transpose(); }
  /// Camera axes -> clip space with reversed depth in 0 to 1 (near is 1). Perspective has no far plane.
  [[nodiscard]] Eigen::Matrix4d projection(double aspect, const Bounds& scene) const;
  /// Where a point of the world lies in the picture, -1 to 1 each, and its distance along the view.
  [[nodiscard]] Eigen::Vector3d project(const Eigen::Vector3d& point, double aspect) const;

  [[nodiscard]] const Eigen::Quaterniond& orientation() const { return orientation_; }
  void set_orientation(const Eigen::Quaterniond& orientation) { orientation_ = orientation.normalized(); }

 private:
  Eigen::Quaterniond orientation_ = Eigen::Quaterniond::Identity();  // camera -> world
};

/// Towards the light that goes with the camera: from over its left shoulder. Of unit length.
[[nodiscard]] Eigen::Vector3d key_light(const Camera& camera);

}  // namespace raylift::viewer
