// SPDX-License-Identifier: Apache-2.0
// The scenes and rays of bench_rays: those on which peers were measured.
#pragma once

#include <raylift/geometry/bvh/ray.h>
#include <raylift/geometry/scene/scene.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace raylift::bench {

struct RayScene {
  std::string name;
  std::vector<Float3> vertices;
  std::vector<UInt3> triangles;
  double ray_radius = 0;  // of the ball that holds the rays' origins
};

/// A number n: an n x n longitude-latitude sphere of radius 1000 (1 + 0.1 sin 7theta cos 5phi). "detector": a sphere of
/// radius 20000 with 20,000 spheres of 1024 triangles inside of it, all flattened. "cube": a bumpy sphere whose
/// triangles are about as large everywhere. "soup" and "tubes": 500,000 small triangles, or 4000 thin tubes of long
/// triangles, at random inside of a sphere.
[[nodiscard]] RayScene make_ray_scene(const std::string& name);

/// How the sensors of an instanced detector stand: all alike, or each with its pole towards the centre.
enum class Sensors { alike, turned };
/// The detector as instances: two meshes, and an instance for the sphere and for each sensor.
[[nodiscard]] Scene instanced_detector(std::uint32_t count, Sensors sensors = Sensors::alike);

/// The same triangles in random order, as a mesh that never was a grid.
void shuffle(RayScene& scene);

/// Origins uniform in a ball, directions isotropic.
[[nodiscard]] std::vector<Ray> random_rays(std::size_t count, double radius);

/// From the scene's middle outward, through a square of at most `count` pixels: row by row, or in tiles of 8 x 4.
enum class PixelOrder { rows, tiles };
[[nodiscard]] std::vector<Ray> camera_rays(std::size_t count, PixelOrder order = PixelOrder::rows);

}  // namespace raylift::bench
