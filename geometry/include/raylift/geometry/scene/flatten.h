// SPDX-License-Identifier: Apache-2.0
// A scene as one mesh: every instance expanded, in the world, as Chroma's GPUGeometry takes it.
#pragma once

#include <raylift/geometry/progress.h>
#include <raylift/geometry/scene/material_code.h>
#include <raylift/geometry/scene/scene.h>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

namespace raylift {

/// Single arrays over all instances, in order of instances, and within one in order of its mesh's triangles.
struct FlatScene {
  std::vector<Float3> vertices;  ///< millimetres, relative to `origin`
  std::vector<UInt3> triangles;
  std::vector<std::uint32_t> solid_ids;      ///< per triangle: the instance's index
  std::vector<MaterialCode> material_codes;  ///< per triangle
  std::vector<std::uint32_t> colors;  ///< per triangle: 0xAARRGGBB, the alpha inverted (00 is opaque), as in Chroma
  Double3 origin;                     ///< millimetres; what was subtracted, in double, from every vertex
};

namespace detail {

/// A per-triangle attribute: an array with one value for each triangle of a mesh, or none.
template <class T>
struct TriangleAttribute {
  using Value = T;
  std::string_view name;  ///< that of the array in a GeometryView too
  std::vector<T> Mesh::*mesh;
  std::vector<T> FlatScene::*flat;
};

/// The one table of per-triangle attributes, whose values every stage passes on unchanged: checks, the stream from the
/// import process, flattening, upload and cache. A row is TriangleAttribute<T>{"name", &Mesh::name, &FlatScene::name}.
inline constexpr std::tuple kTriangleAttributes{};

/// Calls visit(attribute) for each row of the table.
template <class Visit>
constexpr void for_each_triangle_attribute(const Visit& visit) {
  std::apply([&](const auto&... attribute) { (visit(attribute), ...); }, kTriangleAttributes);
}

/// Whether a mesh of the scene has values of the attribute. If so, triangles of the other meshes have the value zero.
template <class T>
[[nodiscard]] bool has_attribute(const Scene& scene, const TriangleAttribute<T>& attribute) {
  for (const Mesh& mesh : scene.meshes)
    if (!(mesh.*attribute.mesh).empty()) return true;
  return false;
}

}  // namespace detail

/// Expands all instances. The transform and the subtraction of `origin` are computed in double; only their result
/// becomes a float. If a transform mirrors, the winding of its triangles is reversed, so that normals keep pointing
/// outward. Throws Error: limit where 32-bit indices or 16-bit materials do not suffice; malformed where a transformed
/// vertex is beyond the range of a float, naming the solid, or a mesh made by hand has triangles in no part;
/// out_of_host_memory, cancelled.
[[nodiscard]] FlatScene flatten(const Scene& scene, const Double3& origin, const Progress& progress = {});
/// With default_origin.
[[nodiscard]] FlatScene flatten(const Scene& scene, const Progress& progress = {});

/// Zero if no coordinate exceeds 131 m, so that floats resolve the whole scene to 1/128 mm: positions then stay as they
/// are in the file. Otherwise the centre of the scene, in whole metres, if that at least halves the largest coordinate,
/// and else zero: a world that is itself too large gains nothing from a shift.
[[nodiscard]] Double3 default_origin(const Bounds& bounds);

/// 0xAARRGGBB with the alpha inverted (00 is opaque), of a material; Chroma's default, a translucent white, for kNone.
[[nodiscard]] std::uint32_t packed_color(const Scene& scene, std::uint32_t material);

/// Throws Error(limit) where the scene's materials do not fit into a MaterialCode.
void check_material_count(const Scene& scene);

}  // namespace raylift
