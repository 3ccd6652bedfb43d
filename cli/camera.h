// SPDX-License-Identifier: Apache-2.0
// The camera of all images: its position, how options, mouse and keys move it, and how it frames a box. No GL.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <Eigen/Geometry>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace raylift {

enum class StandardView { front, back, left, right, top, bottom, iso };
inline constexpr std::array<std::string_view, 7> kViewNames{"front", "back", "left", "right", "top", "bottom", "iso"};

/// The corners of a box: bits 0 to 2 of an index choose the greater end along x, y and z.
[[nodiscard]] std::array<Eigen::Vector3d, 8> box_corners(const Bounds& box);

/// "front", ...; throws Error(usage) with a suggestion.
[[nodiscard]] StandardView standard_view(std::string_view name);

/// The rays of an image. Coordinates run from -1 to 1, x to the right and y upward.
struct ImageRays {
  Eigen::Vector3d eye, forward;  ///< forward: through (0, 0), at depth 1
  Eigen::Vector3d right, above;  ///< to the image's edges: perspective at distance 1; orthographic in millimetres
  bool orthographic = false;     ///< rays start at eye + x right + y above, and all go forward

  /// Origin and direction, of unit length.
  [[nodiscard]] std::pair<Eigen::Vector3d, Eigen::Vector3d> ray(double x, double y) const {
    const Eigen::Vector3d aside = x * right + y * above;
    if (orthographic) return {eye + aside, forward};
    return {eye, (forward + aside).normalized()};
  }
};

/// Looks from `eye()` at `target`. All lengths are in millimetres of the world, in double.
class Camera {
 public:
  Eigen::Vector3d target = Eigen::Vector3d::Zero();
  double distance = 1000;       ///< from eye to target, more than 0
  double fov_degrees = 40;      ///< vertical
  bool orthographic = false;    ///< the image's height at the target is that of the perspective
  Eigen::Vector3d up{0, 0, 1};  ///< of the world: the axis that orbiting turns about
  /// The part of the image that panels leave free: its middle, from -1 to 1, where the target stands, and its shares of
  /// the image's width and height, which frame() fills.
  Eigen::Vector2d free_middle{0, 0}, free_share{1, 1};

  [[nodiscard]] Eigen::Vector3d forward() const { return orientation_ * Eigen::Vector3d(0, 0, -1); }
  [[nodiscard]] Eigen::Vector3d right() const { return orientation_ * Eigen::Vector3d(1, 0, 0); }
  [[nodiscard]] Eigen::Vector3d above() const { return orientation_ * Eigen::Vector3d(0, 1, 0); }
  [[nodiscard]] Eigen::Vector3d eye() const { return target - distance * forward(); }
  /// Half the visible height of the plane through the target.
  [[nodiscard]] double half_height() const;
  /// Millimetres per pixel at the target, of an image `height` pixels high.
  [[nodiscard]] double pixel_size(int height) const { return 2 * half_height() / height; }
  /// The same at a depth of more than 0.
  [[nodiscard]] double pixel_size(int height, double depth) const {
    return orthographic ? pixel_size(height) : pixel_size(height) * depth / distance;
  }
  /// Millimetres before the eye, along the view.
  [[nodiscard]] double depth(const Eigen::Vector3d& point) const { return (point - eye()).dot(forward()); }
  /// Cuts a line to the part before the eye, at least `least` mm away; false where there is none. Lines of a parallel
  /// projection stay. The ends may change places.
  [[nodiscard]] bool cut_before_eye(Eigen::Vector3d& a, Eigen::Vector3d& b, double least) const;
  [[nodiscard]] ImageRays rays(double aspect) const;

  /// Looks along `direction`, with `up_hint` upward in the image where that is possible.
  void look(const Eigen::Vector3d& direction, const Eigen::Vector3d& up_hint);
  void look(StandardView view);
  /// From one point at another; throws Error(usage) where the two are the same.
  void look_from(const Eigen::Vector3d& eye, const Eigen::Vector3d& at, const Eigen::Vector3d& up_hint);

  /// Turns about the target, in radians: around the world's up axis, and over the image's horizontal axis.
  void orbit(double around, double over);
  /// Turns about the eye, likewise.
  void turn(double around, double over);
  /// Moves eye and target along the image's axes, in millimetres.
  void pan(double to_right, double upward);
  /// Multiplies the distance by `factor`. The point `about`, where given, stays at its place in the image.
  void zoom(double factor, const std::optional<Eigen::Vector3d>& about = std::nullopt);
  /// Moves eye and target along the camera's axes, in millimetres.
  void move(double forward, double to_right, double upward);
  /// Shows all of a box as large as an image of this width over height allows. An empty box changes nothing.
  void frame(const Bounds& bounds, double aspect);
  /// The same of the convex hull of points.
  void frame(std::span<const Eigen::Vector3d> points, double aspect);

  /// World relative to the eye -> camera axes (x right, y up, z backward): rows of the rotation.
  [[nodiscard]] Eigen::Matrix3d rotation() const { return orientation_.toRotationMatrix().transpose(); }
  /// Camera axes -> clip space with reversed depth in 0 to 1 (near is 1). Perspective has no far plane.
  [[nodiscard]] Eigen::Matrix4d projection(double aspect, const Bounds& scene) const;
  /// A world point's position in the image, x and y from -1 to 1, and its distance along the view.
  [[nodiscard]] Eigen::Vector3d project(const Eigen::Vector3d& point, double aspect) const;

  [[nodiscard]] const Eigen::Quaterniond& orientation() const { return orientation_; }
  void set_orientation(const Eigen::Quaterniond& orientation) { orientation_ = orientation.normalized(); }
  friend bool operator==(const Camera&, const Camera&) = default;

 private:
  Eigen::Quaterniond orientation_ = Eigen::Quaterniond::Identity();  // camera -> world
};

/// The options of the camera. What they leave out follows from the scene.
struct CameraOptions {
  std::optional<StandardView> view;
  std::optional<Eigen::Vector3d> eye, target, up;
  std::optional<double> azimuth, elevation;  ///< degrees, added to the view
  double fov_degrees = 40;                   ///< vertical
  double zoom = 1;
  bool orthographic = false;
};

/// Frames `box` in the view that the options ask for, or looks from the eye to the target that they give. Throws
/// Error(usage) for an up vector of length 0, and for an eye that is the target.
[[nodiscard]] Camera make_camera(const CameraOptions& options, UpAxis up, const Bounds& box, double aspect);

/// The direction towards the light that moves with the camera, above its left shoulder. Of unit length.
[[nodiscard]] Eigen::Vector3d key_light(const Camera& camera);

}  // namespace raylift
