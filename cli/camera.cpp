// SPDX-License-Identifier: Apache-2.0
#include "camera.h"

#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "options.h"

namespace raylift {
namespace {

constexpr double kDegree = std::numbers::pi / 180;
constexpr double kNearestDistance = 1e-9;  // floats can hold the squares of these bounds
constexpr double kFarthestDistance = 1e18;

}  // namespace

std::array<Eigen::Vector3d, 8> box_corners(const Bounds& box) {
  std::array<Eigen::Vector3d, 8> result;
  for (unsigned i = 0; i < 8; ++i)
    result[i] = {(i & 1 ? box.max : box.min).x, (i & 2 ? box.max : box.min).y, (i & 4 ? box.max : box.min).z};
  return result;
}

StandardView standard_view(std::string_view name) {
  return cli::enum_of<StandardView>(name, kViewNames);
}

double Camera::half_height() const {
  return distance * std::tan(0.5 * fov_degrees * kDegree);
}

ImageRays Camera::rays(double aspect) const {
  const double half = orthographic ? half_height() : std::tan(0.5 * fov_degrees * kDegree);
  const Eigen::Vector3d to_right = half * aspect * right(), upward = half * above();
  const Eigen::Vector3d aside = free_middle.x() * to_right + free_middle.y() * upward;
  if (orthographic) return {eye() - aside, forward(), to_right, upward, true};
  return {eye(), forward() - aside, to_right, upward, false};
}

void Camera::look(const Eigen::Vector3d& direction, const Eigen::Vector3d& up_hint) {
  const Eigen::Vector3d back = -direction.normalized();
  Eigen::Vector3d side = up_hint.cross(back);
  if (side.norm() < 1e-6 * up_hint.norm()) {
    // The direction is parallel to "up": keep the direction to the right, or take any.
    side = right() - right().dot(back) * back;
    if (side.norm() < 1e-6) side = back.unitOrthogonal();
  }
  side.normalize();
  Eigen::Matrix3d axes;
  axes << side, back.cross(side), back;
  orientation_ = Eigen::Quaterniond(axes).normalized();
}

void Camera::look(StandardView view) {
  // In the front view with z up, x points to the right and y away.
  int vertical = 0;
  up.cwiseAbs().maxCoeff(&vertical);
  const Eigen::Vector3d x = Eigen::Vector3d::Unit((vertical + 1) % 3);
  const Eigen::Vector3d away = up.cross(x);
  switch (view) {
    case StandardView::front:
      return look(away, up);
    case StandardView::back:
      return look(-away, up);
    case StandardView::left:
      return look(x, up);
    case StandardView::right:
      return look(-x, up);
    case StandardView::top:
      return look(-up, away);
    case StandardView::bottom:
      return look(up, away);
    case StandardView::iso:
      return look(away - 0.75 * x - 0.6 * up, up);
  }
}

void Camera::look_from(const Eigen::Vector3d& eye, const Eigen::Vector3d& at, const Eigen::Vector3d& up_hint) {
  const Eigen::Vector3d direction = at - eye;
  if (!(direction.norm() > 0)) throw Error(ErrorKind::usage, "the camera is at the point that it looks at");
  look(direction, up_hint);
  target = at;
  distance = direction.norm();
}

void Camera::orbit(double around, double over) {
  // Stop before the pole, beyond which the image would be upside down.
  const double elevation = std::asin(std::clamp(-forward().dot(up.normalized()), -1.0, 1.0));
  constexpr double kSteepest = 89.9 * kDegree;
  if (above().dot(up) >= 0)
    over = std::clamp(elevation - over, -kSteepest, kSteepest) - elevation;
  else
    over = -over;
  orientation_ =
      (Eigen::AngleAxisd(around, up.normalized()) * Eigen::AngleAxisd(-over, right()) * orientation_).normalized();
}

void Camera::turn(double around, double over) {
  const Eigen::Vector3d stays = eye();
  orbit(around, over);
  target = stays + distance * forward();
}

void Camera::pan(double to_right, double upward) {
  target += to_right * right() + upward * above();
}

void Camera::zoom(double factor, const std::optional<Eigen::Vector3d>& about) {
  const double before = distance;
  distance = std::clamp(distance * factor, kNearestDistance, kFarthestDistance);
  if (!about) return;
  // Moves the target towards the point, within the target's plane, in proportion to the change of the distance.
  const Eigen::Vector3d offset = *about - target;
  const Eigen::Vector3d in_plane = offset - offset.dot(forward()) * forward();
  target += (1 - distance / before) * in_plane;
}

void Camera::move(double ahead, double to_right, double upward) {
  target += ahead * forward() + to_right * right() + upward * above();
}

void Camera::frame(const Bounds& bounds, double aspect) {
  if (!bounds.empty()) frame(box_corners(bounds), aspect);
}

void Camera::frame(std::span<const Eigen::Vector3d> points, double aspect) {
  if (points.empty()) return;
  constexpr double kMargin = 1.06;
  const double tangent = std::tan(0.5 * fov_degrees * kDegree);
  const double tangent_y = tangent * free_share.y();
  const double tangent_x = tangent * aspect * free_share.x();
  const Eigen::Matrix3d to_camera = rotation();
  Bounds bounds;
  for (const Eigen::Vector3d& point : points) bounds.add(point);
  target = to_eigen(bounds.center());
  // Takes the least distance at which all points are inside, and then centres the image. Centring changes that
  // distance, so both are repeated.
  for (int round = 0; round < 4; ++round) {
    double needed = 0;
    double low_x = 1e300, high_x = -1e300, low_y = 1e300, high_y = -1e300;
    for (const Eigen::Vector3d& point : points) {
      const Eigen::Vector3d c = to_camera * (point - target);
      const double towards = orthographic ? 0 : c.z();
      needed = std::max({needed, std::abs(c.x()) / tangent_x + towards, std::abs(c.y()) / tangent_y + towards});
    }
    distance = std::clamp(needed * kMargin, kNearestDistance, kFarthestDistance);
    for (const Eigen::Vector3d& point : points) {
      const Eigen::Vector3d c = to_camera * (point - target);
      const double depth = orthographic ? distance : std::max(distance - c.z(), 1e-6 * distance);
      low_x = std::min(low_x, c.x() / depth);
      high_x = std::max(high_x, c.x() / depth);
      low_y = std::min(low_y, c.y() / depth);
      high_y = std::max(high_y, c.y() / depth);
    }
    target += 0.5 * distance * ((low_x + high_x) * right() + (low_y + high_y) * above());
  }
  if (to_eigen(bounds.size()).norm() <= 0) distance = 1;
}

Eigen::Matrix4d Camera::projection(double aspect, const Bounds& scene) const {
  Eigen::Matrix4d p = Eigen::Matrix4d::Zero();
  if (!orthographic) {
    const double f = 1 / std::tan(0.5 * fov_degrees * kDegree);
    const double near_plane = 1e-4 * distance;
    p(0, 0) = f / aspect;
    p(1, 1) = f;
    p(0, 2) = -free_middle.x();
    p(1, 2) = -free_middle.y();
    p(2, 3) = near_plane;
    p(3, 2) = -1;
    return p;
  }
  // A parallel projection shows all of the scene, even behind the eye.
  double low = -1e-3 * distance, high = 1e-3 * distance;
  if (!scene.empty())
    for (const Eigen::Vector3d& corner : box_corners(scene)) {
      const double depth = (corner - eye()).dot(forward());
      low = std::min(low, depth);
      high = std::max(high, depth);
    }
  const double margin = 0.01 * (high - low);
  low -= margin;
  high += margin;
  p(0, 0) = 1 / (half_height() * aspect);
  p(1, 1) = 1 / half_height();
  p(0, 3) = free_middle.x();
  p(1, 3) = free_middle.y();
  p(2, 2) = 1 / (high - low);  // z = -depth: depth `high` becomes 0, `low` becomes 1
  p(2, 3) = high / (high - low);
  p(3, 3) = 1;
  return p;
}

bool Camera::cut_before_eye(Eigen::Vector3d& a, Eigen::Vector3d& b, double least) const {
  if (orthographic) return true;
  if (depth(a) < depth(b)) std::swap(a, b);
  if (depth(a) <= least) return false;
  if (depth(b) < least) b = a + (depth(a) - least) / (depth(a) - depth(b)) * (b - a);
  return true;
}

Eigen::Vector3d Camera::project(const Eigen::Vector3d& point, double aspect) const {
  const Eigen::Vector3d c = rotation() * (point - eye());
  const double depth = -c.z();
  const double half = orthographic ? half_height() : depth * std::tan(0.5 * fov_degrees * kDegree);
  return {free_middle.x() + c.x() / (half * aspect), free_middle.y() + c.y() / half, depth};
}

Camera make_camera(const CameraOptions& options, UpAxis up, const Bounds& box, double aspect) {
  Camera camera;
  camera.up = Eigen::Vector3d::Unit(static_cast<int>(up));
  camera.fov_degrees = options.fov_degrees;
  camera.orthographic = options.orthographic;
  camera.look(options.view.value_or(StandardView::iso));
  if (options.up) {
    if (!(options.up->norm() > 0)) throw Error(ErrorKind::usage, "the camera's up vector has length 0");
    camera.up = options.up->normalized();
    camera.look(camera.forward(), camera.up);
  }
  if (options.azimuth) camera.orbit(*options.azimuth * kDegree, 0);
  if (options.elevation) camera.orbit(0, -*options.elevation * kDegree);
  camera.frame(box, aspect);
  if (options.eye)
    camera.look_from(*options.eye, options.target.value_or(camera.target), camera.up);
  else if (options.target)
    camera.target = *options.target;
  camera.zoom(1 / options.zoom);
  return camera;
}

Eigen::Vector3d key_light(const Camera& camera) {
  return (-0.55 * camera.right() + 0.75 * camera.above() - 0.9 * camera.forward()).normalized();
}

}  // namespace raylift
