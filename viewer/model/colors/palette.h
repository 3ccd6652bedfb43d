// SPDX-License-Identifier: Apache-2.0
// Colours for things without colours of their own in the file: distinct, and the same in every run.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/colors/color_map.h"
#include "model/settings/settings.h"

namespace raylift::viewer {

/// The colour of material, solid or mesh number `index`: quiet. The first kSafeColors differ for all eyes: with normal
/// sight, protanopia, deuteranopia or tritanopia (G. Machado et al., "A Physiologically-based Model for Simulation of
/// Color Vision Deficiency", 2009) any two of them are at least 20 apart in CIELAB. The others step around the circle
/// of hues by the golden ratio, in varying lightness.
inline constexpr std::uint32_t kSafeColors = 10;
inline constexpr std::uint32_t kDistinctColors = 1024;  ///< the colours repeat after so many
[[nodiscard]] Color distinct_color(std::uint32_t index);
/// The colour of light of kind number `index`: vivid, legible on the ground, and none of distinct_color()'s. The first
/// kSafeColors are at least 24 apart for all eyes.
[[nodiscard]] Color vivid_color(std::uint32_t index, const Ground& ground);

/// 0xAABBGGRR, as GL's unpackUnorm4x8 reads it.
[[nodiscard]] std::uint32_t packed(const Color& color);
[[nodiscard]] Color unpacked(std::uint32_t color);
/// Linear RGB and alpha, 1, for shaders. Converted once, because powers are slow.
using LinearColor = std::array<float, 4>;
[[nodiscard]] LinearColor linear_color(const Color& color);
[[nodiscard]] std::vector<LinearColor> linear_colors(std::span<const std::uint32_t> packed);

/// One colour per material, and the last for no material. These are the file's colours, unless it gives all of several
/// materials the same one, as Geant4 does; then they are those of distinct_color().
[[nodiscard]] std::vector<std::uint32_t> material_palette(const Scene& scene);

/// The table of colours for shaders and kernels: `materials` entries (the last: no material), then `distinct` entries
/// for solids and meshes, then device memory, host memory and back faces.
struct ColorTable {
  std::vector<std::uint32_t> colors;
  std::uint32_t materials = 1;
  std::uint32_t distinct = 1;
};
[[nodiscard]] ColorTable color_table(const Scene& scene);

/// Colours by their names, for who wants one at once.
struct NamedColor {
  std::string_view name;
  Color color;
};
inline constexpr std::array<NamedColor, 9> kNamedColors{{{"Red", {0.84F, 0.15F, 0.16F}},
                                                         {"Orange", {0.95F, 0.55F, 0.13F}},
                                                         {"Yellow", {0.93F, 0.82F, 0.22F}},
                                                         {"Green", {0.20F, 0.63F, 0.26F}},
                                                         {"Cyan", {0.20F, 0.73F, 0.79F}},
                                                         {"Blue", {0.16F, 0.40F, 0.82F}},
                                                         {"Purple", {0.56F, 0.30F, 0.73F}},
                                                         {"White", {0.95F, 0.95F, 0.95F}},
                                                         {"Grey", {0.50F, 0.50F, 0.50F}}}};

inline constexpr Color kNoMaterialColor{0.62F, 0.64F, 0.67F};
inline constexpr Color kNoHitColor{0.38F, 0.39F, 0.41F};  ///< of solids by what they detected
inline constexpr Color kBackFaceColor{0.93F, 0.27F, 0.23F};
inline constexpr Color kDeviceColor{0.24F, 0.62F, 0.80F};  ///< triangles in device memory, by residency
inline constexpr Color kHostColor{0.93F, 0.55F, 0.13F};    ///< triangles in host memory
inline constexpr Color kSelectionColor{1.00F, 0.78F, 0.25F};
inline constexpr Color kFoundColor{0.44F, 0.66F,
                                   0.91F};  ///< the outline of what a search finds: the accent of the dark theme

}  // namespace raylift::viewer
