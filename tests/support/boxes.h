// SPDX-License-Identifier: Apache-2.0
// Scenes of boxes, for tests.
#pragma once

#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/scene/scene.h>

#include <utility>
#include <vector>

namespace raylift::test {

/// Axis-parallel boxes, each a solid of its own, by centre and size.
inline Scene boxes(const std::vector<std::pair<Eigen::Vector3d, double>>& centers_and_sizes) {
  Scene scene;
  scene.meshes.emplace_back();
  Mesh& mesh = scene.meshes[0];
  for (unsigned i = 0; i < 8; ++i)
    mesh.vertices.push_back({i & 1 ? 0.5F : -0.5F, i & 2 ? 0.5F : -0.5F, i & 4 ? 0.5F : -0.5F});
  mesh.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                    {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  for (const auto& [center, size] : centers_and_sizes) {
    Instance placed;
    placed.transform = EigenTransform(Eigen::Translation3d(center)).scale(size);
    scene.instances.push_back(placed);
    scene.bounds.add(center - Eigen::Vector3d::Constant(0.5 * size));
    scene.bounds.add(center + Eigen::Vector3d::Constant(0.5 * size));
  }
  return scene;
}

/// The same with a material, so that they are drawn.
inline Scene drawn_boxes(const std::vector<std::pair<Eigen::Vector3d, double>>& centers_and_sizes) {
  Scene scene = boxes(centers_and_sizes);
  scene.materials = {{"Glass", {1, 1, 0, 1}}};
  scene.meshes[0].parts = {{0, 12}};
  scene.bindings = {{0}};
  for (Instance& instance : scene.instances) instance.binding = 0;
  return scene;
}

}  // namespace raylift::test
