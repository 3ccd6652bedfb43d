// SPDX-License-Identifier: Apache-2.0
// The materials on the two sides of a triangle, packed for a kernel.
#pragma once

#include <raylift/geometry/detail/standard.h>
#include <raylift/geometry/vector_types.h>

namespace raylift {

/// Material indices inside and outside of a triangle; inside is the side that its normal, by its winding, points away
/// from. Chroma's `material_codes` hold 127 materials in 8 bits each; these hold 65535.
struct MaterialCode {
  std::uint16_t inside;
  std::uint16_t outside;

  /// Stands for "no material": outside of the outermost solid, or a surface that the file gave none.
  static constexpr std::uint16_t none = 0xFFFF;

  /// Packs an index of Scene::materials, or kNone, into 16 bits. The caller has made sure that it fits.
  [[nodiscard]] RAYLIFT_HD static constexpr std::uint16_t pack(std::uint32_t material) {
    return material >= none ? none : static_cast<std::uint16_t>(material);
  }

  RAYLIFT_HD friend bool operator==(const MaterialCode&, const MaterialCode&) = default;
};
static_assert(sizeof(MaterialCode) == 4 && std::is_trivially_copyable_v<MaterialCode>);

}  // namespace raylift
