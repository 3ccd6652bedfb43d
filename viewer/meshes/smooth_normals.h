// SPDX-License-Identifier: Apache-2.0
// Normals for smooth shading, of the scene's triangles and of those of its levels of detail. No GL.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "meshes/draw_list.h"

namespace raylift::viewer {

/// Normals for smooth shading. Vertices at creases are not split, so that the vertex array stays the scene's.
struct SmoothNormals {
  /// One normal per vertex, in the mesh's frame, as two signed 16-bit numbers in octahedral encoding (Cigolle et al.,
  /// "A Survey of Efficient Representations for Independent Unit Vectors", JCGT 3(2), 2014). At a crease it is the
  /// normal of the curved side: of a cylinder's wall, not of its lid.
  std::vector<std::uint32_t> vertices;
  /// One bit per triangle: 1 where the normals of its vertices fit it. Other triangles are shaded flat.
  std::vector<std::uint32_t> smooth;
};
[[nodiscard]] SmoothNormals smooth_normals(const Scene& scene, const MeshOffsets& offsets);
/// Adds bits for more triangles, which index the vertices over all meshes, after those of the scene.
void add_smooth_triangles(const Scene& scene, const MeshOffsets& offsets, std::span<const UInt3> triangles,
                          std::span<const std::uint32_t> meshes, SmoothNormals& normals);

/// Octahedral encoding of a vector of any length except 0.
[[nodiscard]] std::uint32_t pack_normal(const Eigen::Vector3f& normal);
[[nodiscard]] Eigen::Vector3f unpack_normal(std::uint32_t packed);

}  // namespace raylift::viewer
