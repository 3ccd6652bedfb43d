// SPDX-License-Identifier: Apache-2.0
// The one table of a GeometryView's arrays. Uploads, cache files, their checks, reports and predicted sizes use it.
#pragma once

#include <raylift/gpu/memory/placement.h>
#include <raylift/gpu/view.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace raylift {

/// The arrays of a GeometryView.
enum class ViewArray : std::uint8_t {
  nodes,
  pairs,
  pair_ids,
  triangles,
  vertices,
  meshes,
  instances,
  material_colors,
  triangle_parts,
  part_materials,
  material_codes,
  solid_ids,
  colors,
  solids,
  daughters,
  solid_colors,
  frames,
  vertex_rests,
  optical_rows,
  optical_buckets,
  optical_materials,
  optical_surfaces,
  optical_points,
  border_surfaces,
  channels,
  channel_types,
};
inline constexpr std::size_t kViewArrays = static_cast<std::size_t>(ViewArray::channel_types) + 1;

/// What the table has of an array.
struct ViewArrayInfo {
  /// The uploads that have an array.
  enum class Presence : std::uint8_t {
    always,
    bvh,         ///< those with a BVH
    two_levels,  ///< those that are not flattened
    flattened,
    optics,     ///< those of scenes with optics
    fine,       ///< those that resolve places finely: is_fine()
    rests,      ///< those of scenes whose meshes have rests, in two levels
    attribute,  ///< those of scenes with such a per-triangle attribute
  };

  /// What an array has one element for. A flattened scene has one mesh and one instance.
  enum class Extent : std::uint8_t { vertex, triangle, mesh, instance, solid, material, pair, other };

  ViewArray array;
  std::string_view name;  ///< in reports and cache files
  ArrayRank rank;
  Presence presence;
  Extent extent;
  std::size_t element_bytes;
  /// Sets the array's pointer in a view to a device address, its count to `count`, and the number of its last elements
  /// in host memory to `on_host`.
  void (*set)(GeometryView& view, const std::byte* data, std::uint32_t count, std::uint32_t on_host);
};

/// The array's row of the table.
[[nodiscard]] const ViewArrayInfo& info(ViewArray array) noexcept;
/// The row of that name. Throws Error(usage) where there is none.
[[nodiscard]] const ViewArrayInfo& info(std::string_view name);
/// All rows, in the order of ViewArray.
[[nodiscard]] std::span<const ViewArrayInfo, kViewArrays> view_arrays() noexcept;
/// Null where no array of a view has that name.
[[nodiscard]] const ViewArrayInfo* find_view_array(std::string_view name) noexcept;

}  // namespace raylift
