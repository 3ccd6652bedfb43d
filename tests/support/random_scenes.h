// SPDX-License-Identifier: Apache-2.0
// Small random scenes with optics, for tests of uploads.
#pragma once

#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/scene/flatten.h>
#include <raylift/geometry/scene/scene.h>

#include <random>

#include "random_optics.h"

namespace raylift::test {

inline Mesh random_mesh(std::mt19937& random, std::size_t vertices, std::size_t triangles, std::size_t parts) {
  std::uniform_real_distribution<float> coordinate(-100, 100);
  Mesh mesh;
  mesh.name = "mesh";
  for (std::size_t i = 0; i != vertices; ++i)
    mesh.vertices.push_back({coordinate(random), coordinate(random), coordinate(random)});
  const auto index = [&] { return static_cast<std::uint32_t>(random() % vertices); };
  for (std::size_t i = 0; i != triangles; ++i) mesh.triangles.push_back({index(), index(), index()});
  std::uint32_t next = 0;
  for (std::size_t part = 0; part != parts; ++part) {
    const auto end = static_cast<std::uint32_t>(triangles * (part + 1) / parts);
    mesh.parts.push_back({next, end - next});
    next = end;
  }
  return mesh;
}

/// Meshes of different sizes and numbers of parts, several instances of each, one of them mirrored; with optics.
inline Scene random_scene(unsigned seed, std::size_t meshes = 5, std::size_t size = 700) {
  std::mt19937 random(seed);
  Scene scene;
  scene.source = "made in a test";
  for (int i = 0; i != 3; ++i)
    scene.materials.push_back({"m" + std::to_string(i), {0.25F * static_cast<float>(i), 0.5F, 1.0F, 1.0F}});
  scene.nodes.push_back({"world", kNone, std::nullopt});
  for (std::uint32_t m = 0; m != meshes; ++m) {
    const std::size_t parts = 1 + m % 3;
    scene.meshes.push_back(random_mesh(random, size + m, 2 * size + 3 * m, parts));
    std::vector<std::uint32_t> binding;
    for (std::size_t part = 0; part != parts; ++part)
      binding.push_back(part == 2 ? kNone : static_cast<std::uint32_t>(part));
    scene.bindings.push_back(binding);
    for (int copy = 0; copy != 3; ++copy) {
      EigenTransform transform = EigenTransform::Identity();
      transform.translate(Eigen::Vector3d(1000.0 * m, 500.0 * copy, -3))
          .rotate(Eigen::AngleAxisd(copy, Eigen::Vector3d::UnitZ()));
      if (copy == 2) transform.scale(Eigen::Vector3d(1, 1, -2));
      scene.instances.push_back({m, 0, m, copy == 0 ? kNone : 2U, transform});
    }
  }
  scene.bounds = world_bounds(scene);
  give_optics(scene, seed);
  return scene;
}

}  // namespace raylift::test
