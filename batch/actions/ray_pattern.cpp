// SPDX-License-Identifier: Apache-2.0
#include "ray_pattern.h"

#include <raylift/geometry/error.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

namespace raylift::batch {
namespace {

using Eigen::Vector3d;

float3 to_float3(const Vector3d& v) {
  return {static_cast<float>(v.x()), static_cast<float>(v.y()), static_cast<float>(v.z())};
}

/// Random numbers of one ray: splitmix64, from a state that its number and the seed make.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t number) : state_(mix(mix(seed) + number)) {}
  /// 0 to below 1.
  double unit() { return static_cast<double>(mix(state_ += kStep) >> 11U) * 0x1p-53; }
  Vector3d direction() {
    const double z = 2 * unit() - 1, r = std::sqrt(1 - z * z), a = 2 * std::numbers::pi * unit();
    return {r * std::cos(a), r * std::sin(a), z};
  }

 private:
  static constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15U;
  static std::uint64_t mix(std::uint64_t z) {
    z += kStep;
    z = (z ^ z >> 30U) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27U) * 0x94D049BB133111EBU;
    return z ^ z >> 31U;
  }
  std::uint64_t state_;
};

RayMaker isotropic(const RayOptions& options, const Scene& scene, const Vector3d& origin) {
  const Ball ball = ball_of(options, scene);
  const Vector3d center = ball.center - origin;
  return [center, radius = ball.radius, seed = options.seed](std::uint64_t i) {
    Random random(seed, i);
    const double distance = radius * std::cbrt(random.unit());
    const Vector3d start = center + distance * random.direction();
    Ray ray;
    ray.origin = to_float3(start);
    ray.direction = to_float3(random.direction());
    return ray;
  };
}

struct Camera {
  Vector3d eye, forward, right, down;  // right and down: of one pixel, at distance 1
};

/// Sees the whole scene from above one of its corners, unless the options say otherwise.
Camera make_camera(const RayOptions& options, const Scene& scene) {
  const auto up_axis = static_cast<Eigen::Index>(scene.up_axis);
  const Vector3d up = Vector3d::Unit(up_axis);
  const Vector3d target = options.target.value_or(scene.bounds.center());
  const double half_height = std::tan(options.fov_degrees * std::numbers::pi / 360);
  const double half_width = half_height * options.width / options.height;
  Camera camera;
  camera.forward =
      options.origin ? Vector3d(target - *options.origin)
                     : Vector3d(0.6 * Vector3d::Unit((up_axis + 2) % 3) - Vector3d::Unit((up_axis + 1) % 3) - 0.5 * up);
  if (!(camera.forward.norm() > 0)) {
    if (options.target)
      throw Error(ErrorKind::usage, "the camera stands in the point that it looks at", {}, "move --origin or --target");
    camera.forward = Vector3d::Unit((up_axis + 1) % 3);
  }
  camera.forward.normalize();
  Vector3d right = camera.forward.cross(up);
  if (right.norm() < 1e-6) right = camera.forward.cross(Vector3d::Unit((up_axis + 1) % 3));
  right.normalize();
  const Vector3d down = camera.forward.cross(right);
  camera.eye = options.origin.value_or(target);
  if (!options.origin && !scene.bounds.empty()) {
    // As near as all corners of the scene's box are seen, and a little more.
    double distance = 0;
    for (int corner = 0; corner != 8; ++corner) {
      Vector3d offset;
      for (int axis = 0; axis != 3; ++axis)
        offset[axis] = ((corner >> axis & 1) != 0 ? scene.bounds.max : scene.bounds.min)[axis] - target[axis];
      const double across =
          std::max(std::abs(offset.dot(right)) / half_width, std::abs(offset.dot(down)) / half_height);
      distance = std::max(distance, across - offset.dot(camera.forward));
    }
    camera.eye -= std::max(1.05 * distance, 1e-3) * camera.forward;
  }
  camera.right = right * (2 * half_width / options.width);
  camera.down = down * (2 * half_height / options.height);
  return camera;
}

RayMaker camera_rays(const RayOptions& options, const Scene& scene, const Vector3d& origin) {
  Camera camera = make_camera(options, scene);
  camera.eye -= origin;
  return [camera, options](std::uint64_t i) {
    const std::uint64_t pixel = i % options.pixels();
    double x = 0.5, y = 0.5;
    if (i != pixel) {
      Random random(options.seed, i);
      x = random.unit();
      y = random.unit();
    }
    x += static_cast<double>(pixel % options.width) - 0.5 * options.width;
    y += static_cast<double>(pixel / options.width) - 0.5 * options.height;
    Ray ray;
    ray.origin = to_float3(camera.eye);
    ray.direction = to_float3((camera.forward + x * camera.right + y * camera.down).normalized());
    ray.tmin = static_cast<float>(options.near);
    return ray;
  };
}

/// Chooses solids and triangles by their areas.
class Surfaces {
 public:
  explicit Surfaces(const Scene& scene) : scene_(scene), meshes_(scene.meshes.size()) {
    for (std::size_t i = 0; i != meshes_.size(); ++i) meshes_[i] = sums(scene.meshes[i], Transform::Identity());
    double sum = 0;
    for (const Instance& instance : scene.instances) instances_.push_back(sum += area(instance));
    if (!(sum > 0))
      throw Error(ErrorKind::usage, "the scene has no surface for rays to start from", {scene.source, ""},
                  "use another --pattern");
  }

  struct Spot {
    Vector3d point, normal;  // in the world; the normal is outward, of unit length
  };
  [[nodiscard]] Spot choose(Random& random) const {
    const Instance& instance = scene_.instances[pick(instances_, random.unit())];
    const Mesh& mesh = scene_.meshes[instance.mesh];
    const uint3 triangle = mesh.triangles[pick(meshes_[instance.mesh], random.unit())];
    const Vector3d a = corner(mesh, triangle.x, instance.transform), b = corner(mesh, triangle.y, instance.transform),
                   c = corner(mesh, triangle.z, instance.transform);
    const double root = std::sqrt(random.unit()), v = root * random.unit();
    const double sign = instance.transform.linear().determinant() < 0 ? -1 : 1;
    return {(1 - root) * a + (root - v) * b + v * c, sign * (b - a).cross(c - a).normalized()};
  }

 private:
  static Vector3d corner(const Mesh& mesh, std::uint32_t index, const Transform& transform) {
    const float3 v = mesh.vertices[index];
    return transform * Vector3d(v.x, v.y, v.z);
  }
  /// After each triangle, the area of it and those before it.
  static std::vector<double> sums(const Mesh& mesh, const Transform& transform) {
    std::vector<double> result;
    result.reserve(mesh.triangles.size());
    double sum = 0;
    for (const uint3& t : mesh.triangles) {
      const Vector3d a = corner(mesh, t.x, transform);
      sum += 0.5 * (corner(mesh, t.y, transform) - a).cross(corner(mesh, t.z, transform) - a).norm();
      result.push_back(sum);
    }
    return result;
  }
  /// In the world.
  [[nodiscard]] double area(const Instance& instance) const {
    const std::vector<double>& mesh = meshes_[instance.mesh];
    if (mesh.empty()) return 0;
    const Eigen::Matrix3d linear = instance.transform.linear();
    const Eigen::Matrix3d square = linear.transpose() * linear;
    const double scale = square.trace() / 3;
    if (square.isApprox(scale * Eigen::Matrix3d::Identity(), 1e-6)) return mesh.back() * scale;
    return sums(scene_.meshes[instance.mesh], instance.transform).back();
  }
  static std::size_t pick(const std::vector<double>& sums, double unit) {
    // Of equal sums the first is the one that has area.
    const auto found = std::upper_bound(sums.begin(), sums.end(), unit * sums.back());
    return std::min(static_cast<std::size_t>(found - sums.begin()), sums.size() - 1);
  }

  const Scene& scene_;
  std::vector<std::vector<double>> meshes_;
  std::vector<double> instances_;
};

RayMaker surface_rays(const RayOptions& options, const Scene& scene, const Vector3d& origin) {
  const auto surfaces = std::make_shared<const Surfaces>(scene);
  const double side = options.outward ? 1 : -1;
  return [surfaces, origin, side, seed = options.seed](std::uint64_t i) {
    Random random(seed, i);
    const Surfaces::Spot spot = surfaces->choose(random);
    const Vector3d normal = side * spot.normal;
    // A unit vector plus one in all directions alike goes by the cosine. Never along the surface itself.
    Vector3d direction = normal + random.direction();
    if (direction.norm() < 1e-9) direction = normal;
    direction.normalize();
    Ray ray;
    ray.origin = to_float3(spot.point - origin);
    ray.direction = to_float3(direction);
    // The start lies on its triangle but for rounding, which must not count as a hit.
    const double largest = (spot.point - origin).cwiseAbs().maxCoeff();
    ray.tmin = static_cast<float>(largest * 0x1p-20 / std::max(direction.dot(normal), 0x1p-8));
    return ray;
  };
}

}  // namespace

Ball ball_of(const RayOptions& options, const Scene& scene) {
  return {options.origin.value_or(scene.bounds.center()),
          options.radius.value_or(0.25 * scene.bounds.size().minCoeff())};
}

RayMaker make_rays(const RayOptions& options, const Scene& scene, const Vector3d& origin) {
  switch (options.pattern) {
    case RayPattern::camera:
      return camera_rays(options, scene, origin);
    case RayPattern::surface:
      return surface_rays(options, scene, origin);
    case RayPattern::isotropic:
      break;
  }
  return isotropic(options, scene, origin);
}

}  // namespace raylift::batch
