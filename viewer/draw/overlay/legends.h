// SPDX-License-Identifier: Apache-2.0
// The legends of all colours in an image: those of the visible solids, and those of light; and how they are drawn over
// an image that is written. No GL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "draw/overlay/overlay.h"
#include "light/photon_choice.h"
#include "light/photons.h"
#include "light/readable_light.h"
#include "model/colors/legend.h"
#include "model/solids/solids.h"

namespace raylift::viewer {

/// The legend of the visible solids; `looks` has the Look of each. `depths`: the range of a depth image, mm.
[[nodiscard]] Legend make_legend(const Solids& solids, const Settings& settings, std::span<const std::uint8_t> looks,
                                 std::optional<std::pair<double, double>> depths, std::size_t most = 24);

/// The legends of the visible solids and of the light that is drawn, each of at most `most` entries. `depths` is that
/// of make_legend(); `hits` is what solids detected, where their colours show it; `shown` how much of the light is
/// drawn.
[[nodiscard]] std::vector<Legend> make_legends(const Solids& solids, const Settings& settings,
                                               std::span<const std::uint8_t> looks,
                                               std::optional<std::pair<double, double>> depths, const Photons& photons,
                                               const std::optional<SolidHits>& hits, const LightShown& shown,
                                               std::size_t most = 24);

/// The most entries of a legend in an image of this height.
[[nodiscard]] std::size_t most_legend_entries(int height);

/// Adds legends in the upper right corner, one below the other, on a plate like the background. Names that are too long
/// are truncated, and entries without room are counted.
void add_legends(std::span<const Legend> legends, int width, int height, Overlay& overlay,
                 const Background& background = {});
/// The width that they take of such an image, with the margins at both sides; 0 without legends.
[[nodiscard]] float legends_width(std::span<const Legend> legends, int width, int height);

}  // namespace raylift::viewer
