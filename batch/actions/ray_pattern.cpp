// SPDX-License-Identifier: Apache-2.0
#include "ray_pattern.h"

#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include "cli/camera.h"

namespace raylift::batch {
namespace {

using Eigen::Vector3d;

Float3 to_float3(const Vector3d& v) {
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

RayMaker isotropic(const RayOptions& options, const Scene& scene) {
  const Ball ball = ball_of(options, scene);
  RayMaker make{{}, {}, options.seed};
  make.source.center = ball.center;
  make.source.radius = static_cast<float>(ball.radius);
  return make;
}

RayMaker on_host(std::function<Ray(std::uint64_t)> ray) {
  return {std::move(ray), {}, 0};
}

/// As raylift-view places its camera, at the options' point or where it sees the whole scene.
ImageRays image_rays(const RayOptions& options, const Scene& scene) {
  CameraOptions camera;
  camera.eye = options.origin;
  camera.target = options.target;
  camera.fov_degrees = options.fov_degrees;
  if (camera.eye && !camera.target) {
    camera.target = to_eigen(scene.bounds.center());
    // From the scene's centre, horizontally.
    if (*camera.eye == *camera.target)
      *camera.target += std::max(1.0, to_eigen(scene.bounds.size()).norm()) *
                        Vector3d::Unit((static_cast<Eigen::Index>(scene.up_axis) + 1) % 3);
  }
  const double aspect = static_cast<double>(options.width) / options.height;
  return make_camera(camera, scene.up_axis, scene.bounds, aspect).rays(aspect);
}

RayMaker camera_rays(const RayOptions& options, const Scene& scene, const Vector3d& origin) {
  ImageRays rays = image_rays(options, scene);
  rays.eye -= origin;
  return on_host([rays, options](std::uint64_t i) {
    const std::uint64_t pixel = i % options.pixels();
    double x = 0.5, y = 0.5;
    if (i != pixel) {
      Random random(options.seed, i);
      x = random.unit();
      y = random.unit();
    }
    x += static_cast<double>(pixel % options.width);
    y += static_cast<double>(pixel / options.width);
    const auto [start, direction] = rays.ray(2 * x / options.width - 1, 1 - 2 * y / options.height);
    Ray ray;
    ray.origin = LocalPoint(to_float3(start));
    ray.direction = to_float3(direction);
    ray.tmin = static_cast<float>(options.near);
    return ray;
  });
}

/// Chooses solids and triangles by their areas.
class Surfaces {
 public:
  explicit Surfaces(const Scene& scene) : scene_(scene), meshes_(scene.meshes.size()) {
    for (std::size_t i = 0; i != meshes_.size(); ++i) meshes_[i] = sums(scene.meshes[i], EigenTransform::Identity());
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
    const UInt3 triangle = mesh.triangles[pick(meshes_[instance.mesh], random.unit())];
    const EigenTransform to_world = to_eigen(instance.transform);
    const Vector3d a = corner(mesh, triangle.x, to_world), b = corner(mesh, triangle.y, to_world),
                   c = corner(mesh, triangle.z, to_world);
    const double root = std::sqrt(random.unit()), v = root * random.unit();
    const double sign = to_world.linear().determinant() < 0 ? -1 : 1;
    return {(1 - root) * a + (root - v) * b + v * c, sign * (b - a).cross(c - a).normalized()};
  }

 private:
  static Vector3d corner(const Mesh& mesh, std::uint32_t index, const EigenTransform& transform) {
    const Float3 v = mesh.vertices[index];
    return transform * Vector3d(v.x, v.y, v.z);
  }
  /// After each triangle, the area of it and those before it.
  static std::vector<double> sums(const Mesh& mesh, const EigenTransform& transform) {
    std::vector<double> result;
    result.reserve(mesh.triangles.size());
    double sum = 0;
    for (const UInt3& t : mesh.triangles) {
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
    const Eigen::Matrix3d linear = to_eigen(instance.transform).linear();
    const Eigen::Matrix3d square = linear.transpose() * linear;
    const double scale = square.trace() / 3;
    if (square.isApprox(scale * Eigen::Matrix3d::Identity(), 1e-6)) return mesh.back() * scale;
    return sums(scene_.meshes[instance.mesh], to_eigen(instance.transform)).back();
  }
  static std::size_t pick(const std::vector<double>& sums, double unit) {
    // The first of equal sums is the one that has area.
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
  return on_host([surfaces, origin, side, seed = options.seed](std::uint64_t i) {
    Random random(seed, i);
    const Surfaces::Spot spot = surfaces->choose(random);
    const Vector3d normal = side * spot.normal;
    // A unit vector plus one in all directions alike goes by the cosine. Never along the surface itself.
    Vector3d direction = normal + random.direction();
    if (direction.norm() < 1e-9) direction = normal;
    direction.normalize();
    Ray ray;
    ray.origin = LocalPoint(to_float3(spot.point - origin));
    ray.direction = to_float3(direction);
    // The start lies on its triangle but for rounding, which must not count as a hit.
    const double largest = (spot.point - origin).cwiseAbs().maxCoeff();
    ray.tmin = static_cast<float>(largest * 0x1p-20 / std::max(direction.dot(normal), 0x1p-8));
    return ray;
  });
}

}  // namespace

Ball ball_of(const RayOptions& options, const Scene& scene) {
  return {options.origin.value_or(to_eigen(scene.bounds.center())),
          options.radius.value_or(0.25 * to_eigen(scene.bounds.size()).minCoeff())};
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
  return isotropic(options, scene);
}

}  // namespace raylift::batch
