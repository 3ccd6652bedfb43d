// SPDX-License-Identifier: Apache-2.0
// Scenes of a few meshes that are given where they stand, one in the other.
#pragma once

#include "shells.h"

namespace raylift::test {

/// A solid: a mesh in the world's coordinates, and the number of the solid around it.
struct Piece {
  Mesh mesh;
  std::uint32_t mother = kNone;
  std::vector<OpticalTable> tables;
  std::vector<OpticalProperties::Constant> constants = {};
};

inline Scene pieces(std::vector<Piece> all) {
  Scene scene;
  scene.source = "made in a test";
  for (std::uint32_t i = 0; i != all.size(); ++i) {
    scene.meshes.push_back(std::move(all[i].mesh));
    scene.materials.push_back({"material " + std::to_string(i), {}});
    scene.bindings.push_back({i});
    scene.nodes.push_back({"solid " + std::to_string(i), all[i].mother, {}, kNone});
    Instance instance;
    instance.mesh = instance.node = instance.binding = i;
    instance.outside = all[i].mother;
    scene.instances.push_back(instance);
    scene.optics.materials.push_back({std::move(all[i].tables), std::move(all[i].constants)});
  }
  scene.bounds = world_bounds(scene);
  return scene;
}

/// From one corner to the other.
inline Mesh box(Float3 low, Float3 high) {
  Mesh mesh = cube();
  for (Float3& v : mesh.vertices)
    v = {low.x + v.x * (high.x - low.x), low.y + v.y * (high.y - low.y), low.z + v.z * (high.z - low.z)};
  return mesh;
}

/// A convex polygon from y = -width to width; its corners' x and z, counter-clockwise where x is to the right and z up.
inline Mesh bar(const std::vector<std::pair<double, double>>& corners, float width) {
  Mesh mesh;
  mesh.name = "bar";
  const auto count = static_cast<std::uint32_t>(corners.size());
  for (const float y : {-width, width})
    for (const auto& [x, z] : corners) mesh.vertices.push_back({static_cast<float>(x), y, static_cast<float>(z)});
  for (std::uint32_t i = 0; i != count; ++i) {
    const std::uint32_t next = (i + 1) % count;
    mesh.triangles.push_back({i, count + i, next});
    mesh.triangles.push_back({next, count + i, count + next});
    if (i == 0 || next == 0) continue;
    mesh.triangles.push_back({0, i, next});
    mesh.triangles.push_back({count, count + next, count + i});
  }
  mesh.parts = {{0, static_cast<std::uint32_t>(mesh.triangles.size())}};
  return mesh;
}

/// Gives a solid a skin, which is the scene's only surface.
inline OpticalSurface& add_skin_of(Scene& scene, std::uint32_t solid, OpticalSurface surface) {
  surface.name = "skin";
  scene.optics.surfaces = {std::move(surface)};
  SurfaceAssignment skin{SurfaceAssignment::Kind::skin, "skin", 0, {}, {}};
  skin.from.solid = scene.nodes[solid].name;
  scene.optics.assignments = {skin};
  resolve_optics(scene);
  return scene.optics.surfaces[0];
}

}  // namespace raylift::test
