// SPDX-License-Identifier: Apache-2.0
// Colours for things that a file gives none, or all the same one: as unlike as possible, and the same every time.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <cstdint>
#include <vector>

#include "settings.h"

namespace raylift::viewer {

/// The colour of thing number `index`: of the first ones, hand-picked; afterwards around the circle of hues by the
/// golden ratio, in varying lightness.
[[nodiscard]] Color distinct_color(std::uint32_t index);

/// 0xAABBGGRR, as GL's unpackUnorm4x8 reads it.
[[nodiscard]] std::uint32_t packed(const Color& color);
[[nodiscard]] Color unpacked(std::uint32_t color);

/// For each material, and last for none. The file's colours where it tells at least two materials apart by them, or has
/// only one; Geant4 writes the same white for all, and then they are distinct_color's.
[[nodiscard]] std::vector<std::uint32_t> material_palette(const Scene& scene);

/// Every colour that a picture may use, as shaders and kernels look them up: `materials` of materials (the last: of
/// none), then `distinct` for things without a colour of their own, then those of device memory, host memory, back
/// faces and the selection.
struct ColorTable {
  std::vector<std::uint32_t> colors;
  std::uint32_t materials = 1;
  std::uint32_t distinct = 1;
};
[[nodiscard]] ColorTable color_table(const Scene& scene);

inline constexpr Color kNoMaterialColor{0.62F, 0.64F, 0.67F};
inline constexpr Color kBackFaceColor{0.93F, 0.27F, 0.23F};
inline constexpr Color kDeviceColor{0.30F, 0.69F, 0.42F};  ///< of residency: device memory
inline constexpr Color kHostColor{0.95F, 0.58F, 0.21F};    ///< host memory
inline constexpr Color kSelectionColor{1.00F, 0.78F, 0.25F};

}  // namespace raylift::viewer
