// SPDX-License-Identifier: Apache-2.0
// The argument of a kernel: one struct by value, the same on the GPU and on the
// host. This header is for kernels.
//
//   __global__ void kernel(raylift::GeometryView geometry, ...) {
//     const raylift::InstanceView& instance = geometry.instances[i];
//     const raylift::MeshView mesh = geometry.meshes[instance.mesh];
//     const raylift::UInt3 triangle = geometry.triangles[mesh.first_triangle + k];
//     const raylift::Float3 a = geometry.vertices[triangle.x];           // in the mesh's frame
//     const raylift::Float3 world = instance.to_world.point(a);          // millimetres from geometry.origin
//
// Two levels: each mesh stands in the arrays once, and instances place it. A flattened scene has one mesh and one
// instance with the identity, and then solid ids, material codes and colours per triangle.
#pragma once

#include <raylift/geometry/bvh/bvh_format.h>
#include <raylift/geometry/detail/standard.h>
#include <raylift/geometry/scene/material_code.h>
#include <raylift/geometry/vector_types.h>
#include <raylift/geometry/vectors.h>
#include <raylift/gpu/optics_view.h>

namespace raylift {

/// In GeometryView::solid_colors: a solid that has its materials' colours.
inline constexpr std::uint32_t kMaterialColor = 0xFFFFFFFF;
/// The colour without a material: Chroma's default, a translucent white.
inline constexpr std::uint32_t kNoMaterialColor = 0x33FFFFFF;

/// Where a mesh lies in GeometryView::vertices and GeometryView::triangles.
struct MeshView {
  std::uint32_t first_vertex;
  std::uint32_t vertex_count;
  std::uint32_t first_triangle;
  std::uint32_t triangle_count;
};

/// A mesh in the world.
struct InstanceView {
  Affine to_world;               ///< mesh frame -> millimetres from the view's origin
  Affine to_mesh;                ///< its inverse; all zero where the transform has none
  std::uint32_t mesh;            ///< index in GeometryView::meshes
  std::uint32_t solid_id;        ///< index in Scene::instances; of a flat scene 0, see GeometryView::solid_ids
  std::uint32_t first_material;  ///< of its parts, in GeometryView::part_materials
  std::uint16_t outside;         ///< material around it, or MaterialCode::none
  std::uint16_t mirrored;        ///< 1: to_world reverses the winding of triangles
};

/// A solid's place in the tree of solids (see SolidTree in <raylift/geometry/scene/solids.h>), and the surfaces on the
/// way to and from its mother.
struct alignas(16) SolidView {
  std::uint32_t mother;          ///< the solid around it; 0xFFFFFFFF: nothing is around it
  std::uint32_t depth;           ///< how many mothers are above it
  std::uint32_t first_daughter;  ///< in GeometryView::daughters
  std::uint32_t daughter_count;
  std::uint16_t material;     ///< inside: that of its mesh's first part, or MaterialCode::none
  std::uint16_t parts;        ///< of its mesh; of several each has a material: see GeometryView::material_code
  std::uint16_t surface_in;   ///< from its mother into it: index in OpticsView::surfaces, or kNoSurface
  std::uint16_t surface_out;  ///< from it into its mother
  std::uint16_t skin;         ///< that of its skin: for surface_between of <raylift/gpu/optics.h>
  std::uint16_t reserved;
  std::uint32_t volume;  ///< its logical volume, or 0xFFFFFFFF: solids of one volume are alike
};

/// A scene on a device. Pointers are device addresses, null for arrays that the scene lacks; the ResidencyReport lists
/// where each array is.
struct GeometryView {
  const Float3* vertices;                ///< vertex_count, each in the frame of its mesh
  const UInt3* triangles;                ///< triangle_count; indices into vertices
  const MeshView* meshes;                ///< mesh_count
  const InstanceView* instances;         ///< instance_count
  const std::uint16_t* triangle_parts;   ///< two-level: per triangle, the number of its part in its mesh
  const std::uint16_t* part_materials;   ///< two-level: from InstanceView::first_material on, a material for each part
  const MaterialCode* material_codes;    ///< flat: per triangle
  const std::uint32_t* solid_ids;        ///< flat: per triangle
  const std::uint32_t* colors;           ///< flat: per triangle, 0xAARRGGBB, alpha inverted, as in Chroma
  const std::uint32_t* material_colors;  ///< material_count, likewise
  const std::uint32_t* solid_colors;     ///< two-level: by solid id, likewise, or kMaterialColor
  const SolidView* solids;               ///< solid_count, by solid id; null for a FlatScene uploaded on its own
  const std::uint32_t* daughters;        ///< solid ids, those of one mother together
  const Float3* vertex_rests;            ///< what `vertices` lack to the file's numbers; null: nothing is known of it
  std::uint32_t vertex_count;
  std::uint32_t triangle_count;
  std::uint32_t mesh_count;
  std::uint32_t instance_count;
  std::uint32_t material_count;
  std::uint32_t solid_count;
  std::uint32_t bvh_levels;  ///< 0: no BVH was built; 1: one tree, of a flat scene; 2: bvh.nodes[0] is over instances
  BvhView bvh;        ///< for closest_hit and any_hit of <raylift/gpu/rays/query.h>; PairIds count over `triangles`
  double origin[3];   ///< millimetres: from_scene() subtracts it, to_scene() adds it
  float reach;        ///< the scene's largest coordinate from `origin`; 0 for a FlatScene uploaded on its own
  OpticsView optics;  ///< see <raylift/gpu/optics.h>

  /// A point of the scene, in millimetres, as rays and photons have it: from the view's origin. Exact to half a float
  /// step of the result.
  [[nodiscard]] RAYLIFT_HD LocalPoint from_scene(const Double3& point) const {
    return LocalPoint(static_cast<float>(point.x - origin[0]), static_cast<float>(point.y - origin[1]),
                      static_cast<float>(point.z - origin[2]));
  }
  /// Whether next_boundary() resolves places to 2^-41 of the scene's largest coordinate, instead of 2^-21.
  [[nodiscard]] RAYLIFT_HD bool is_fine() const { return bvh.frames != nullptr; }
  /// The same point to 48 bits where the geometry is fine; else the rest is zero.
  [[nodiscard]] RAYLIFT_HD FinePoint fine_from_scene(const Double3& point) const {
    return fine_point({point.x - origin[0], point.y - origin[1], point.z - origin[2]});
  }
  /// The same for a point that counts from `origin`.
  [[nodiscard]] RAYLIFT_HD FinePoint fine_point(const Double3& from_origin) const {
    using arithmetic_detail::split;
    const auto x = split(from_origin.x), y = split(from_origin.y), z = split(from_origin.z);
    const LocalPoint point(x.high, y.high, z.high);
    return is_fine() ? FinePoint(point, {x.low, y.low, z.low}) : FinePoint(point);
  }
  /// The point at point + t * direction. Where the geometry is not fine, each product and each sum is rounded to float.
  [[nodiscard]] RAYLIFT_HD FinePoint along(const FinePoint& from, double t, Float3 direction) const {
    if (!is_fine()) return from.point + static_cast<float>(t) * direction;
    const auto at = [t](float point, float rest, float d) {
      return (static_cast<double>(point) + static_cast<double>(rest)) +
             arithmetic_detail::product(t, static_cast<double>(d));
    };
    return fine_point({at(from.point.x, from.rest.x, direction.x), at(from.point.y, from.rest.y, direction.y),
                       at(from.point.z, from.rest.z, direction.z)});
  }
  /// The scene's coordinates, in millimetres, of a point that rays or photons have.
  [[nodiscard]] RAYLIFT_HD Double3 to_scene(LocalPoint point) const {
    return {static_cast<double>(point.x) + origin[0], static_cast<double>(point.y) + origin[1],
            static_cast<double>(point.z) + origin[2]};
  }
  [[nodiscard]] RAYLIFT_HD Double3 to_scene(const FinePoint& from) const {
    const Double3 point = to_scene(from.point);
    return {point.x + static_cast<double>(from.rest.x), point.y + static_cast<double>(from.rest.y),
            point.z + static_cast<double>(from.rest.z)};
  }

  /// The materials on both sides of a triangle. `triangle` is an index into `triangles`.
  [[nodiscard]] RAYLIFT_HD MaterialCode material_code(std::uint32_t instance, std::uint32_t triangle) const {
    if (material_codes != nullptr) return material_codes[triangle];
    const InstanceView& placed = instances[instance];
    return {part_materials[placed.first_material + triangle_parts[triangle]], placed.outside};
  }

  /// The solid that a triangle of an instance belongs to: an index in Scene::instances.
  [[nodiscard]] RAYLIFT_HD std::uint32_t solid_id(std::uint32_t instance, std::uint32_t triangle) const {
    return solid_ids != nullptr ? solid_ids[triangle] : instances[instance].solid_id;
  }

  /// The colour of a triangle, as in `colors`.
  [[nodiscard]] RAYLIFT_HD std::uint32_t color(std::uint32_t instance, std::uint32_t triangle) const {
    if (colors != nullptr) return colors[triangle];
    const std::uint32_t own = solid_colors[instances[instance].solid_id];
    if (own != kMaterialColor) return own;
    const std::uint16_t inside = material_code(instance, triangle).inside;
    return inside == MaterialCode::none ? kNoMaterialColor : material_colors[inside];
  }
};
static_assert(std::is_trivially_copyable_v<GeometryView> && std::is_standard_layout_v<GeometryView>);
static_assert(sizeof(InstanceView) == 112 && sizeof(SolidView) == 32);

}  // namespace raylift
