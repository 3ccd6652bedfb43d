// SPDX-License-Identifier: Apache-2.0
// The legends of all colours in an image: those of the visible solids, and those of light. No GL.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "light/photon_choice.h"
#include "light/photons.h"
#include "model/legend.h"

namespace raylift::viewer {

/// The legend of the visible solids; `looks` has the Look of each. `depths`: the range of a depth image, mm.
[[nodiscard]] Legend make_legend(const Scene& scene, const Settings& settings, std::span<const std::uint8_t> looks,
                                 std::optional<std::pair<double, double>> depths, std::size_t most = 24);

/// The legends of the visible solids and of the light that is drawn, each of at most `most` entries. `depths` is that
/// of make_legend(); `hits` is what solids detected, where their colours show it.
[[nodiscard]] std::vector<Legend> make_legends(const Scene& scene, const Settings& settings,
                                               std::span<const std::uint8_t> looks,
                                               std::optional<std::pair<double, double>> depths, const Photons& photons,
                                               const std::optional<SolidHits>& hits, std::size_t most = 24);

}  // namespace raylift::viewer
