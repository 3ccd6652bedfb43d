// SPDX-License-Identifier: Apache-2.0
#include "state/shown/viewpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "model/solids/reveal.h"
#include "state/shown/remembered.h"

namespace raylift::viewer {

bool Viewpoint::moving() const {
  return std::chrono::steady_clock::now() - shown_.last_move < std::chrono::milliseconds(180);
}

void Viewpoint::frame(std::span<const std::uint32_t> instances, double zoom) {
  if (!shown_.scene || instances.empty()) return;
  frame(framed_points(*shown_.solids, shown_.settings, instances), zoom);
}

void Viewpoint::frame(const std::vector<Eigen::Vector3d>& points, double zoom) {
  framed_ = points;
  framed_zoom_ = zoom;
  if (points.empty()) return;
  shown_.camera.frame(points, shown_.aspect());
  shown_.camera.zoom(zoom);
}

void Viewpoint::frame_again() {
  ++shown_.revision;
  frame(framed_, framed_zoom_);
}

void Viewpoint::set(const Camera& camera, std::vector<Eigen::Vector3d> framed, double zoom) {
  const Camera before = std::exchange(shown_.camera, camera);
  shown_.camera.free_middle = before.free_middle;
  shown_.camera.free_share = before.free_share;
  framed_ = std::move(framed);
  framed_zoom_ = zoom;
}

void Viewpoint::go_home() {
  if (!shown_.scene) return;
  appearance_.set_in_the_way({});
  const bool orthographic = shown_.camera.orthographic;
  set(home_.camera);
  shown_.camera.orthographic = orthographic;
  frame(home_.framed, home_.zoom);
  shown_.moved();
}

void Viewpoint::set_framebuffer(const Resolution& size) {
  if (size == shown_.framebuffer) return;
  shown_.framebuffer = size;
  frame_again();
}

void Viewpoint::set_free_part(const Eigen::Vector2d& low, const Eigen::Vector2d& high) {
  const Eigen::Vector2d middle = low + high - Eigen::Vector2d(1, 1), share = high - low;
  Camera& camera = shown_.camera;
  if ((middle - camera.free_middle).norm() + (share - camera.free_share).norm() < 1e-9) return;
  camera.free_middle = middle;
  camera.free_share = share;
  frame_again();
}

void Viewpoint::set_orthographic(bool orthographic) {
  shown_.camera.orthographic = orthographic;
  ++shown_.revision;
}

void Viewpoint::look(StandardView view) {
  shown_.camera.look(view);
  ++shown_.revision;
  frame_all();
}

void Viewpoint::look_along(const Eigen::Vector3d& axis) {
  move([&](Camera& camera) {
    // As the standard views: seen from above or below, the image's upper side is the back.
    Camera seen = camera;
    for (const StandardView view : {StandardView::front, StandardView::back, StandardView::left, StandardView::right,
                                    StandardView::top, StandardView::bottom}) {
      seen.look(view);
      if (seen.forward().dot(axis) < -0.999) return camera.look(view);
    }
    camera.look(-axis, camera.up);
  });
}

void Viewpoint::frame_all() {
  if (!shown_.scene) return;
  appearance_.set_in_the_way({});
  frame(shown_solid(appearance_.looks()), 1);
  shown_.moved();
}

void Viewpoint::focus(std::span<const std::uint32_t> instances) {
  if (!shown_.scene || instances.empty()) return;
  frame(instances, 1.6);  // leaves room for some of the surroundings
  appearance_.set_in_the_way(standing_before(*shown_.solids, instances, shown_.camera, shown_.aspect()));
  shown_.moved();
}

void Viewpoint::focus_alone(std::span<const std::uint32_t> instances) {
  if (!shown_.scene || instances.empty()) return;
  frame(instances, 1);
  appearance_.set_in_the_way(all_but(*shown_.solids, instances));
  shown_.moved();
}

void Viewpoint::focus_selection() {
  if (!selection_) return frame_all();
  focus(selection_->solids);
}

Eigen::Vector3d Viewpoint::point_under(const Cursor& cursor) const {
  const Camera& camera = shown_.camera;
  const auto [origin, direction] = cursor_ray(camera, cursor);
  const double depth = (camera.target - origin).dot(camera.forward()) / direction.dot(camera.forward());
  return origin + depth * direction;
}

void Viewpoint::change_fly_speed(double steps) {
  constexpr double kStep = 1.25;
  fly_speed_ = std::clamp(fly_speed_ * std::pow(kStep, steps), kSlowestFly, kFastestFly);
  if (std::abs(fly_speed_ - 1) < 1e-9) fly_speed_ = 1;  // without the error of rounding
  shown_.messages.show(fmt::format("flying at {:.3g} times the usual speed", fly_speed_));
}

}  // namespace raylift::viewer
