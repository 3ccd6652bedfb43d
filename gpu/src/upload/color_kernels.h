// SPDX-License-Identifier: Apache-2.0
// What recolouring does to one colour, on host and device, and the kernels' launches.
#pragma once

#include <raylift/gpu/view.h>

#include <cstdint>

namespace raylift::detail {

/// Solids, by bit.
struct MarkedSolids {
  const std::uint32_t* words;
  std::uint32_t count;  ///< of bits

  [[nodiscard]] RAYLIFT_HD bool has(std::uint32_t solid) const {
    return solid < count && (words[solid / 32] >> solid % 32 & 1U) != 0;
  }
};

/// Number i of the triangles of a flat scene, or of the solids of one in two levels.
RAYLIFT_HD inline void color_one(const GeometryView& view, std::uint32_t* colors, std::uint32_t i, MarkedSolids marked,
                                 std::uint32_t color) {
  if (marked.has(view.solid_ids != nullptr ? view.solid_ids[i] : i)) colors[i] = color;
}

RAYLIFT_HD inline void reset_one(const GeometryView& view, std::uint32_t* colors, std::uint32_t i) {
  if (view.solid_ids == nullptr) {
    colors[i] = kMaterialColor;
    return;
  }
  const std::uint16_t inside = view.material_codes[i].inside;
  colors[i] = inside == MaterialCode::none ? kNoMaterialColor : view.material_colors[inside];
}

}  // namespace raylift::detail

namespace raylift::cuda {

/// Both return a cudaError_t. The device must be current.
int launch_color_solids(const GeometryView& view, std::uint32_t* colors, std::uint32_t count,
                        detail::MarkedSolids marked, std::uint32_t color, void* stream);
int launch_reset_colors(const GeometryView& view, std::uint32_t* colors, std::uint32_t count, void* stream);

}  // namespace raylift::cuda
