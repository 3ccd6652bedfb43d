// SPDX-License-Identifier: Apache-2.0
// Rays through scenes, and what they hit on a device.
#pragma once

#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/scene/scene.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/rays/trace.h>

#include <random>
#include <vector>

#include "support/triangles_and_rays.h"

namespace raylift::test {

template <class T, class Allocator>
DeviceBuffer<T> copied_to(const Device& device, const Stream& stream, const std::vector<T, Allocator>& values) {
  DeviceBuffer<T> buffer(device, values.size());
  buffer.copy_from(std::span<const T>(values), stream);
  return buffer;
}

inline std::vector<Hit> trace_all(const GpuGeometry& geometry, const std::vector<Ray>& rays) {
  const Stream stream(geometry.device());
  DeviceBuffer<Ray> device_rays(geometry.device(), rays.size());
  device_rays.copy_from(std::span<const Ray>(rays), stream);
  std::vector<Hit> hits(rays.size(), Hit{-1, 7, 7, 7, {7, 7, 7}, 7, 1});
  DeviceBuffer<Hit> device_hits(geometry.device(), rays.size());
  device_hits.copy_from(std::span<const Hit>(hits), stream);  // memory that is used again may hold the right ones
  trace(geometry, device_rays.device(), device_hits.device(), rays.size(), stream);
  device_hits.copy_to(std::span(hits), stream);
  stream.synchronize();
  return hits;
}

inline UploadOptions with_bvh(bool flat = false) {
  UploadOptions options;
  options.bvh = true;
  options.flatten = flat;
  options.reserve = 0;
  return options;
}

/// From around the scene's middle in all directions.
inline std::vector<Ray> rays_in(const Scene& scene, std::size_t count, std::uint32_t seed) {
  RandomRays random(0.6 * to_eigen(scene.bounds.size()).maxCoeff(), seed);
  const Eigen::Vector3f middle = to_eigen(scene.bounds.center()).cast<float>();
  std::vector<Ray> rays(count);
  for (Ray& ray : rays) {
    ray = random();
    ray.origin = LocalPoint(ray.origin.x + middle.x(), ray.origin.y + middle.y(), ray.origin.z + middle.z());
  }
  return rays;
}

inline Scene closed_scene(std::uint32_t n, std::uint32_t instances) {
  Scene scene;
  scene.source = "made in a test";
  scene.materials.push_back({"m", {}});
  const Triangles sphere = bumpy_sphere(n, 100, 0.1);
  scene.meshes.push_back(
      {"sphere", sphere.vertices, sphere.triangles, {{0, static_cast<std::uint32_t>(sphere.triangles.size())}}});
  scene.bindings.push_back({0});
  scene.nodes.push_back({"world", kNone, std::nullopt});
  std::mt19937 random(5);
  std::uniform_real_distribution<double> place(-1500, 1500), angle(0, 6);
  for (std::uint32_t i = 0; i != instances; ++i) {
    EigenTransform transform = EigenTransform::Identity();
    transform.translate(Eigen::Vector3d(place(random), place(random), place(random)));
    const Eigen::AngleAxisd turn(angle(random), Eigen::Vector3d(1, 2, 3).normalized());
    if (i % 5 != 2) transform.rotate(turn);  // the others are only moved, and some of them mirrored
    if (i % 3 == 1) transform.scale(Eigen::Vector3d(0.5, 1, -2));
    scene.instances.push_back({0, 0, 0, kNone, transform});
  }
  scene.bounds = world_bounds(scene);
  return scene;
}

}  // namespace raylift::test
