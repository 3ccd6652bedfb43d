// SPDX-License-Identifier: Apache-2.0
// The one table of a GeometryView's arrays. Uploads, cache files and reports take names, ranks and sizes from it.
#pragma once

#include <raylift/gpu/memory/placement.h>
#include <raylift/gpu/view.h>

#include <cstddef>
#include <cstdint>
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
  optical_tables,
  optical_materials,
  optical_surfaces,
  optical_points,
  border_surfaces,
  channels,
  channel_types,
};
inline constexpr std::size_t kViewArrays = static_cast<std::size_t>(ViewArray::channel_types) + 1;

struct ViewArrayInfo {
  ViewArray array;
  std::string_view name;  ///< in reports and cache files
  ArrayRank rank;
  std::size_t element_bytes;
  /// Sets the array's pointer in a view to a device address, its count to `count`, and the number of its last elements
  /// in host memory to `on_host`.
  void (*set)(GeometryView& view, const std::byte* data, std::uint32_t count, std::uint32_t on_host);
};

/// The array's row of the table.
[[nodiscard]] const ViewArrayInfo& info(ViewArray array) noexcept;
/// Null where no array of a view has that name.
[[nodiscard]] const ViewArrayInfo* find_view_array(std::string_view name) noexcept;

}  // namespace raylift
