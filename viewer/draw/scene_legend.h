// SPDX-License-Identifier: Apache-2.0
// The legend of the visible solids' colours. No GL.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "model/legend.h"

namespace raylift::viewer {

/// The legend of the visible solids; `looks` has the Look of each. `depths`: the range of a depth image, mm.
[[nodiscard]] Legend make_legend(const Scene& scene, const Settings& settings, std::span<const std::uint8_t> looks,
                                 std::optional<std::pair<double, double>> depths, std::size_t most = 24);

}  // namespace raylift::viewer
