// SPDX-License-Identifier: Apache-2.0
// Scenes of spheres, for tests.
#pragma once

#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/scene/scene.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

namespace raylift::viewer {

/// A closed sphere of radius 1: `rings` rings of twice as many corners, 4 rings (rings - 1) triangles.
inline Mesh sphere_mesh(std::uint32_t rings) {
  Mesh mesh;
  const std::uint32_t around = 2 * rings;
  const auto add = [&](double polar, double azimuth) {
    mesh.vertices.push_back({static_cast<float>(std::sin(polar) * std::cos(azimuth)),
                             static_cast<float>(std::sin(polar) * std::sin(azimuth)),
                             static_cast<float>(std::cos(polar))});
  };
  add(0, 0);
  for (std::uint32_t i = 1; i != rings; ++i)
    for (std::uint32_t j = 0; j != around; ++j) add(std::numbers::pi * i / rings, 2 * std::numbers::pi * j / around);
  add(std::numbers::pi, 0);
  const auto last = static_cast<std::uint32_t>(mesh.vertices.size()) - 1;
  const auto at = [&](std::uint32_t i, std::uint32_t j) { return 1 + (i - 1) * around + j % around; };
  for (std::uint32_t j = 0; j != around; ++j) {
    mesh.triangles.push_back({0, at(1, j), at(1, j + 1)});
    for (std::uint32_t i = 1; i + 1 != rings; ++i) {
      mesh.triangles.push_back({at(i, j), at(i + 1, j), at(i, j + 1)});
      mesh.triangles.push_back({at(i, j + 1), at(i + 1, j), at(i + 1, j + 1)});
    }
    mesh.triangles.push_back({at(rings - 1, j + 1), at(rings - 1, j), last});
  }
  mesh.parts = {{0, static_cast<std::uint32_t>(mesh.triangles.size())}};
  return mesh;
}

/// Spheres, each a solid of its own, by centre and radius.
inline Scene round_solids(const std::vector<std::pair<Eigen::Vector3d, double>>& centers_and_radii,
                          std::uint32_t rings) {
  Scene scene;
  scene.meshes.push_back(sphere_mesh(rings));
  scene.bindings = {{kNone}};
  for (const auto& [center, radius] : centers_and_radii) {
    Instance placed;
    placed.transform = EigenTransform(Eigen::Translation3d(center)).scale(radius);
    scene.instances.push_back(placed);
    scene.bounds.add(center - Eigen::Vector3d::Constant(radius));
    scene.bounds.add(center + Eigen::Vector3d::Constant(radius));
  }
  return scene;
}

}  // namespace raylift::viewer
