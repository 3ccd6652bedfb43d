// SPDX-License-Identifier: Apache-2.0
#include "rays/ray_caster.h"

#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "meshes/enclosed.h"
#include "meshes/smooth_normals.h"
#include "model/colors/color_map.h"
#include "model/colors/palette.h"

#ifdef RAYLIFT_WITH_CUDA
#include "rays/ray_launch.h"
#endif

namespace raylift::viewer {
namespace {

Float3 as_float3(const Eigen::Vector3d& v) {
  return {static_cast<float>(v.x()), static_cast<float>(v.y()), static_cast<float>(v.z())};
}

/// The least and the greatest depth of a box, seen from the eye.
std::pair<double, double> depths(const Bounds& box, const Camera& camera) {
  std::pair<double, double> result{1e300, -1e300};
  for (const Eigen::Vector3d& corner : box_corners(box)) {
    const double depth = camera.depth(corner);
    result = {std::min(result.first, depth), std::max(result.second, depth)};
  }
  return result;
}

}  // namespace

void cast_cells(const Device& device, const RayFrame& frame, const RayPass& pass, std::uint32_t first,
                std::uint32_t count, [[maybe_unused]] StreamRef stream) {
#ifdef RAYLIFT_WITH_CUDA
  if (!device.info().is_host) {
    const std::string failure = launch_cells(device.info().cuda_device, frame, pass, first, count, stream.handle());
    if (!failure.empty()) throw Error(ErrorKind::device, "casting rays on " + device.info().id + " failed: " + failure);
    return;
  }
#else
  (void)device;
#endif
  tbb::parallel_for(tbb::blocked_range<std::uint32_t>(first, first + count, 64), [&](const auto& range) {
    for (std::uint32_t cell = range.begin(); cell != range.end(); ++cell) cast_cell(frame, pass, cell);
  });
}

RayCaster::RayCaster(const Scene& scene, const DeviceScene& geometry)
    : scene_(&scene),
      geometry_(&geometry),
      device_(geometry.device()),
      stream_(device_),
      image_(device_, 16, 16, {SharedOptions::Access::none, Sharing::automatic}) {
  const ColorTable table = color_table(scene);
  fill<std::uint32_t>(colors_, table.colors);
  frame_.material_entries = table.materials;
  frame_.distinct_entries = table.distinct;
  frame_.colors = colors_.device();
  frame_.device_triangles = static_cast<std::uint32_t>(std::min<std::uint64_t>(geometry.device_triangles(), kNone));
}

template <class T>
void RayCaster::fill(DeviceBuffer<T>& buffer, std::span<const T> values) {
  if (buffer.size() != values.size()) {
    buffer = DeviceBuffer<T>();
    buffer = DeviceBuffer<T>(device_, values.size());
  }
  buffer.copy_from(values, stream_);
  stream_.synchronize();
}

void RayCaster::fill_scale(const Settings& settings) {
  std::vector<std::uint32_t> scale;
  for (const Color& color : ScaleColors(settings.scale_map, ground_of(settings.background)).steps(kRayScaleSteps))
    scale.push_back(packed(color));
  if (scale == last_scale_) return;
  last_scale_ = std::move(scale);
  fill<std::uint32_t>(scale_, last_scale_);
  frame_.scale = scale_.device();
}

void RayCaster::fill_own(std::span<const std::uint32_t> colors) {
  frame_.own = nullptr;
  if (std::all_of(colors.begin(), colors.end(), [](std::uint32_t color) { return color == 0; })) return;
  if (!std::equal(colors.begin(), colors.end(), last_own_.begin(), last_own_.end())) {
    last_own_.assign(colors.begin(), colors.end());
    fill<std::uint32_t>(own_, last_own_);
  }
  frame_.own = own_.device();
}

void RayCaster::start(const Camera& camera, const Settings& settings, const Resolution& resolution,
                      std::span<const std::uint8_t> looks, int samples, std::span<const std::uint32_t> own_colors) {
  const auto width = static_cast<std::uint32_t>(resolution.width);
  const auto height = static_cast<std::uint32_t>(resolution.height);
  const std::size_t pixels = std::size_t{width} * height;
  if (image_.width() != width || image_.height() != height) image_.resize(width, height);
  if (sums_.size() != pixels) {
    sums_ = DeviceBuffer<Light>();
    sums_ = DeviceBuffer<Light>(device_, pixels);
    solids_ = DeviceBuffer<std::uint32_t>();
    solids_ = DeviceBuffer<std::uint32_t>(device_, pixels);
  }
  std::vector<std::uint8_t> visible(looks.begin(), looks.end());
  for (std::uint8_t& one : visible) switch (static_cast<Look>(one)) {
      case Look::hidden:
        one = 0;
        break;
      case Look::solid:
      case Look::edged:
        one = kClosed;
        break;
      case Look::faint:
        one = settings.ray_cast == RayMode::crossings ? kSeen : 0;
        break;
      case Look::open:
      case Look::lines:
      case Look::glass:
        one = kSeen;
        break;
    }
  fill_scale(settings);
  fill_own(own_colors);
  RayFrame& p = frame_;
  p.visible = nullptr;
  shown_ = scene_->bounds;
  const std::vector<ClipPlane> planes = settings.planes();
  const bool hides = std::find(visible.begin(), visible.end(), std::uint8_t{0}) != visible.end();
  const bool opens = std::find(visible.begin(), visible.end(), kSeen) != visible.end();
  if (hides || (opens && settings.caps && !planes.empty())) {
    if (!std::equal(visible.begin(), visible.end(), last_visible_.begin(), last_visible_.end())) {
      last_visible_ = visible;
      fill<std::uint8_t>(visible_, visible);
      visible_bounds_ = Solids(*scene_).bounds_of(visible);
    }
    p.visible = visible_.device();
    shown_ = visible_bounds_;
  }
  for (const ClipPlane& plane : settings.cuts_away() ? std::vector<ClipPlane>() : planes)
    shown_ = clipped(shown_, plane, scene_->bounds);
  if (settings.smooth && normals_.size() == 0) {
    const SmoothNormals normals = smooth_normals(*scene_, mesh_offsets(*scene_));
    fill<std::uint32_t>(normals_, normals.vertices);
    fill<std::uint32_t>(smooth_, normals.smooth);
  }
  if (settings.caps && !planes.empty()) fill_balls();
  p.normals = settings.smooth ? normals_.device() : nullptr;
  p.smooth = smooth_.device();
  p.sums = sums_.device();
  p.solids = solids_.device();
  p.width = width;
  p.height = height;
  p.back_faces = settings.back_faces;

  const Eigen::Vector3d from = origin();
  const ImageRays rays = camera.rays(static_cast<double>(width) / height);
  const double first =
      camera.orthographic ? depths(scene_->bounds, camera).first - 1e-3 * camera.distance : 1e-4 * camera.distance;
  p.eye = as_float3(rays.eye - from);
  p.forward = as_float3(rays.forward);
  p.right = as_float3(rays.right);
  p.above = as_float3(rays.above);
  p.up = as_float3(camera.up.normalized());
  p.key_light = as_float3(key_light(camera));
  p.orthographic = camera.orthographic;
  p.first = static_cast<float>(first);
  // The depth image's range is that of the visible solids.
  const auto [shown_near, shown_far] = depths(shown_.empty() ? scene_->bounds : shown_, camera);
  p.nearest = static_cast<float>(std::max(shown_near, first));
  p.farthest = static_cast<float>(std::max(shown_far, std::max(shown_near, first) + 1e-6 * camera.distance));
  p.reach = static_cast<float>(std::min(0.35 * camera.half_height(), 0.2 * to_eigen(scene_->bounds.size()).norm()));
  p.caps = settings.caps;
  p.clip_count = static_cast<std::uint32_t>(planes.size());
  for (std::size_t i = 0; i != planes.size(); ++i) {
    p.clip_normals[i] = as_float3(planes[i].normal);
    p.clip_offsets[i] = static_cast<float>(planes[i].offset_in(scene_->bounds) - planes[i].normal.dot(from));
  }
  p.cut_away = settings.cuts_away();
  p.color = settings.color;
  p.mode = settings.ray_cast;

  passes_ = {{8, false, 0}, {4, true, 0}, {2, true, 0}, {1, true, 0}};
  for (int i = 1; i < samples; ++i) passes_.push_back({1, false, static_cast<std::uint32_t>(i)});
  pass_ = 0;
  next_cell_ = 0;
}

bool RayCaster::advance(double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto since = [](Clock::time_point then) { return std::chrono::duration<double>(Clock::now() - then).count(); };
  if (done()) return true;
  geometry_->with_view(stream_, [&](const GeometryView& view) {
    const SharedImage::Mapping mapping = image_.map(stream_);
    frame_.geometry = view;
    frame_.pixels = mapping.image().pixels;
    do {
      const RayPass& pass = passes_[pass_];
      const std::uint32_t all = cells(frame_, pass);
      const std::uint32_t count = std::min(chunk_, all - next_cell_);
      const auto chunk_start = Clock::now();
      cast_cells(device_, frame_, pass, next_cell_, count, stream_);
      stream_.synchronize();
      // A chunk takes about 5 ms on any device and scene.
      const double took = since(chunk_start);
      if (took < 0.0025 && count == chunk_ && chunk_ < (1U << 26)) chunk_ *= 2;
      if (took > 0.01 && chunk_ > 1024) chunk_ /= 2;
      next_cell_ += count;
      if (next_cell_ == all) {
        next_cell_ = 0;
        ++pass_;
      }
    } while (!done() && since(start) < seconds);
  });
  return done();
}

double RayCaster::progress() const {
  if (passes_.empty() || done()) return 1;
  const double part = static_cast<double>(next_cell_) / std::max(1U, cells(frame_, passes_[pass_]));
  // Each pass of the first sample has four times the rays of the pass before; together they equal one later pass.
  const auto pass = static_cast<double>(pass_);
  const double begin = pass_ == 0 ? 0 : pass_ < kFirstPasses ? std::pow(4.0, pass - 4) : pass - 3;
  const double end = pass_ < kFirstPasses ? std::pow(4.0, pass - 3) : pass - 2;
  return (begin + (end - begin) * part) / static_cast<double>(passes_.size() - 3);
}

Eigen::Vector3d RayCaster::origin() const {
  Eigen::Vector3d place = Eigen::Vector3d::Zero();
  geometry_->with_view(stream_, [&](const GeometryView& view) {
    place = {view.origin[0], view.origin[1], view.origin[2]};
  });
  return place;
}

void RayCaster::fill_balls() {
  if (balls_.size() != 0) return;
  const Eigen::Vector3d from = origin();
  std::vector<RayBall> balls;
  for (const SolidBall& ball : balls_around_solids(*scene_)) {
    const Eigen::Vector3d center = ball.center - from;
    // Larger by what rounding to float makes of it and of points of rays.
    balls.push_back({as_float3(center), static_cast<float>(1.001 * ball.radius + 1e-6 * center.norm())});
  }
  fill<RayBall>(balls_, balls);
  frame_.balls = balls_.device();
}

std::vector<std::uint32_t> RayCaster::solids() const {
  std::vector<std::uint32_t> rows(solids_.size());
  solids_.copy_to(std::span<std::uint32_t>(rows), stream_);
  stream_.synchronize();
  std::vector<std::uint32_t> result(rows.size());
  for (std::size_t y = 0; y < frame_.height; ++y)
    std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>((frame_.height - 1 - y) * frame_.width), frame_.width,
                result.begin() + static_cast<std::ptrdiff_t>(y * frame_.width));
  return result;
}

}  // namespace raylift::viewer
