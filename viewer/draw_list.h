// SPDX-License-Identifier: Apache-2.0
// A scene as the GPU draws it: one record per instance, and indirect commands that draw every visible instance of a
// mesh at once. Pure data, no GL.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace raylift::viewer {

/// An instance as the shader reads it (std430): the rows of the linear part, each followed by a coordinate of the
/// translation. The translation is the sum of two floats, from the world's origin: subtracting the eye's two floats
/// from them one by one loses nothing that shows, however large the world is.
struct DrawInstance {
  std::array<std::array<float, 4>, 3> rows;  ///< linear part; [3] the translation's high part
  std::array<float, 3> low;                  ///< the translation's low part
  std::uint32_t flags;                       ///< the mesh's number << 1 | whether the transform mirrors
};
static_assert(sizeof(DrawInstance) == 64);

/// What an instanced vertex attribute gives a shader: which instance, and what it can't know of its part.
struct DrawSlot {
  std::uint32_t instance;
  std::uint32_t material;        ///< inside, index in Scene::materials, or kNone
  std::uint32_t first_triangle;  ///< of the part, over all meshes: gl_PrimitiveID counts from there
  std::uint32_t unused = 0;
};

/// glMultiDrawElementsIndirect's record.
struct DrawCommand {
  std::uint32_t index_count;
  std::uint32_t instance_count;
  std::uint32_t first_index;
  std::int32_t base_vertex;
  std::uint32_t base_instance;  ///< index of the first DrawSlot
};
static_assert(sizeof(DrawCommand) == 20);

struct DrawList {
  std::vector<DrawSlot> slots;
  std::vector<DrawCommand> commands;
  std::uint64_t triangles = 0;  ///< that are drawn, each instance counted
};

/// Where each mesh's vertices and triangles begin in arrays over all meshes.
struct MeshOffsets {
  std::vector<std::uint32_t> first_vertex;
  std::vector<std::uint32_t> first_triangle;
  std::uint64_t vertices = 0;
  std::uint64_t triangles = 0;
};

/// Throws Error(limit) where 32 bits do not suffice.
[[nodiscard]] MeshOffsets mesh_offsets(const Scene& scene);

[[nodiscard]] std::vector<DrawInstance> draw_instances(const Scene& scene);

/// `visible` has a value for each instance, or none: all are. Instances of one mesh and part make one command.
[[nodiscard]] DrawList draw_list(const Scene& scene, const MeshOffsets& offsets, std::span<const std::uint8_t> visible);

/// Splits a number into two floats whose sum it is, to twice a float's precision.
[[nodiscard]] std::array<float, 2> split(double value);

/// What smooth shading needs, without vertices of its own at creases, so that these arrays stay the scene's.
struct SmoothNormals {
  /// Of each vertex of each mesh, in the mesh's frame, as two signed 16-bit numbers: octahedral (Cigolle et al., "A
  /// Survey of Efficient Representations for Independent Unit Vectors", JCGT 3(2), 2014). At a crease it is that of the
  /// side that is bent, as a cylinder's wall is and its lid is not.
  std::vector<std::uint32_t> vertices;
  /// A bit for each triangle: 1 where its three vertices' normals fit it. The others are shaded flat.
  std::vector<std::uint32_t> smooth;
};
[[nodiscard]] SmoothNormals smooth_normals(const Scene& scene, const MeshOffsets& offsets);

/// Of a vector of any length but 0.
[[nodiscard]] std::uint32_t pack_normal(const Eigen::Vector3f& normal);
[[nodiscard]] Eigen::Vector3f unpack_normal(std::uint32_t packed);

}  // namespace raylift::viewer
