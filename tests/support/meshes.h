// SPDX-License-Identifier: Apache-2.0
// Meshes for tests: a cube and spheres, their normals outward; and how to join and turn them inside out.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

namespace raylift::test {

/// Appends `other`, scaled and moved, to the mesh; a negative scale turns it inside out.
inline void append(Mesh& mesh, const Mesh& other, float scale = 1, Float3 at = {0, 0, 0}) {
  const auto base = static_cast<std::uint32_t>(mesh.vertices.size());
  for (const Float3& v : other.vertices)
    mesh.vertices.push_back({scale * v.x + at.x, scale * v.y + at.y, scale * v.z + at.z});
  for (const UInt3& t : other.triangles) mesh.triangles.push_back({base + t.x, base + t.y, base + t.z});
  mesh.parts = {{0, static_cast<std::uint32_t>(mesh.triangles.size())}};
}

/// From 0 to 1: 8 vertices, 12 triangles.
inline Mesh cube() {
  Mesh mesh;
  mesh.name = "cube";
  for (int i = 0; i != 8; ++i)
    mesh.vertices.push_back({static_cast<float>(i & 1), static_cast<float>(i >> 1 & 1), static_cast<float>(i >> 2)});
  mesh.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                    {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  mesh.parts = {{0, 12}};
  return mesh;
}

inline Mesh inside_out(Mesh mesh) {
  for (UInt3& t : mesh.triangles) std::swap(t.y, t.z);
  return mesh;
}

/// Every triangle with three vertices of its own.
inline Mesh unwelded(const Mesh& mesh) {
  Mesh result;
  result.name = mesh.name;
  result.parts = mesh.parts;
  for (const UInt3& t : mesh.triangles) {
    const auto base = static_cast<std::uint32_t>(result.vertices.size());
    for (const std::uint32_t i : {t.x, t.y, t.z}) result.vertices.push_back(mesh.vertices[i]);
    result.triangles.push_back({base, base + 1, base + 2});
  }
  return result;
}

/// An octahedron's sphere of radius 1 with 8 * 4^levels triangles.
inline Mesh sphere(int levels) {
  Mesh mesh;
  mesh.name = "sphere";
  mesh.vertices = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  mesh.triangles = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4}, {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
  for (; levels != 0; --levels) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> middles;
    const auto middle = [&](std::uint32_t a, std::uint32_t b) {
      const auto [found, fresh] =
          middles.try_emplace(std::minmax(a, b), static_cast<std::uint32_t>(mesh.vertices.size()));
      if (fresh) {
        const Float3& p = mesh.vertices[a];
        const Float3& q = mesh.vertices[b];
        const Float3 sum{p.x + q.x, p.y + q.y, p.z + q.z};
        const float length = std::sqrt(sum.x * sum.x + sum.y * sum.y + sum.z * sum.z);
        mesh.vertices.push_back({sum.x / length, sum.y / length, sum.z / length});
      }
      return found->second;
    };
    std::vector<UInt3> finer;
    for (const UInt3& t : mesh.triangles) {
      const std::uint32_t xy = middle(t.x, t.y);
      const std::uint32_t yz = middle(t.y, t.z);
      const std::uint32_t zx = middle(t.z, t.x);
      for (const UInt3& part : {UInt3{t.x, xy, zx}, UInt3{t.y, yz, xy}, UInt3{t.z, zx, yz}, UInt3{xy, yz, zx}})
        finer.push_back(part);
    }
    mesh.triangles = std::move(finer);
  }
  mesh.parts = {{0, static_cast<std::uint32_t>(mesh.triangles.size())}};
  return mesh;
}

}  // namespace raylift::test
