// SPDX-License-Identifier: Apache-2.0
// A scene as the GPU draws it: one record per instance, and indirect commands that draw every visible instance of a
// mesh at once. Pure data, no GL.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/colors/palette.h"
#include "model/settings/modes.h"

namespace raylift::viewer {

/// An instance as the shader reads it (std430): the rows of the linear part, each followed by a coordinate of the
/// translation. The translation is the sum of two floats. The shader subtracts the eye's high and low parts separately,
/// which keeps the precision near the eye in worlds of any size.
struct DrawInstance {
  std::array<std::array<float, 4>, 3> rows;  ///< linear part; [3] the translation's high part
  std::array<float, 3> low;                  ///< the translation's low part
  std::uint32_t flags;                       ///< the mesh's number << 1 | whether the transform mirrors
};
static_assert(sizeof(DrawInstance) == 64);

/// The optical surfaces that light meets on a solid's faces: indices in Optics::surfaces, or kNone.
struct SolidSurfaces {
  std::uint32_t entering = kNone, leaving = kNone;  ///< from its mother, and into it
  /// What a side of its faces shows: the surface that light meets there, or else that of the other side.
  [[nodiscard]] std::uint32_t outside() const { return entering != kNone ? entering : leaving; }
  [[nodiscard]] std::uint32_t inside() const { return leaving != kNone ? leaving : entering; }
  /// The numbers of their colours, as the shader reads them: that of the outside, and from bit 16 on that of the
  /// inside; 0xFFFF: none.
  [[nodiscard]] std::uint32_t packed() const { return color(outside()) | color(inside()) << 16; }
  /// The same for a cap, which has one side.
  [[nodiscard]] std::uint32_t packed_cap() const { return color(outside()) * 0x10001U; }

 private:
  static std::uint32_t color(std::uint32_t surface) { return surface == kNone ? 0xFFFFU : surface % kDistinctColors; }
};

/// The instanced vertex attribute: the instance, and the data of its part.
struct DrawSlot {
  std::uint32_t instance;
  std::uint32_t material;          ///< the material inside, an index in Scene::materials, or kNone
  std::uint32_t first_triangle;    ///< of the part, over all meshes; gl_PrimitiveID starts there
  std::uint32_t surfaces = kNone;  ///< SolidSurfaces::packed()
};
static_assert(sizeof(DrawSlot) == 16);  // a uvec4

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
  std::vector<std::uint32_t> parts;  ///< of each command: the part that it draws, over all meshes
  std::uint64_t triangles = 0;       ///< drawn, those of each instance counted
};

/// The first vertex and the first triangle of each mesh in arrays over all meshes.
struct MeshOffsets {
  std::vector<std::uint32_t> first_vertex;
  std::vector<std::uint32_t> first_triangle;
  std::uint64_t vertices = 0;
  std::uint64_t triangles = 0;
};

/// The part of a mesh that a triangle belongs to, an index in Mesh::parts.
[[nodiscard]] std::optional<std::size_t> part_of(const Mesh& mesh, std::uint32_t triangle);

/// Throws Error(limit) where the indices exceed 32 bits.
[[nodiscard]] MeshOffsets mesh_offsets(const Scene& scene);

[[nodiscard]] std::vector<DrawInstance> draw_instances(const Scene& scene);

/// By solid. Empty where the scene has no surfaces.
[[nodiscard]] std::vector<SolidSurfaces> surfaces_of_solids(const Scene& scene);

/// Draws the instances with a look; those that are open as solid ones. `looks` has the Look of each instance; empty:
/// all are solid. `surfaces` is surfaces_of_solids(scene), or empty. Instances of one part of a mesh share a command.
[[nodiscard]] DrawList draw_list(const Scene& scene, const MeshOffsets& offsets, std::span<const std::uint8_t> looks,
                                 std::span<const SolidSurfaces> surfaces = {}, Look look = Look::solid);

}  // namespace raylift::viewer
