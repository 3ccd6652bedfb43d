// SPDX-License-Identifier: Apache-2.0
// Solids that hide others: those that enclose nearly all, and those between the camera and a target.
// They are drawn faintly, or not at all. No GL.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cli/camera.h"
#include "model/settings/settings.h"
#include "model/solids/solids.h"

namespace raylift::viewer {

/// The visible solids whose boxes hold those of nearly all other visible solids, the larger of them aside: the world, a
/// pool, a tank. The largest first.
[[nodiscard]] std::vector<std::uint32_t> enclosing(const Solids& solids);

/// The visible solids but `targets` and what is inside them.
[[nodiscard]] std::vector<std::uint32_t> all_but(const Solids& solids, std::span<const std::uint32_t> targets);

/// The visible solids whose boxes stand before the boxes of some of `targets` in the camera's image, and what is inside
/// them unless they hold a target.
[[nodiscard]] std::vector<std::uint32_t> standing_before(const Solids& solids, std::span<const std::uint32_t> targets,
                                                         const Camera& camera, double aspect);

/// The Look of each solid. `in_the_way` are drawn faintly in any case. Settings::cuts_open() opens the solids that
/// enclose nearly all others: they are `open` then, but for the largest of several. A visible solid's style goes before
/// this.
[[nodiscard]] std::vector<std::uint8_t> looks(const Solids& solids, const Settings& settings,
                                              std::span<const std::uint32_t> in_the_way = {});

/// The solids that are neither hidden nor faint; all visible ones, where none has it. They are what is framed.
[[nodiscard]] std::vector<std::uint32_t> shown_solid(std::span<const std::uint8_t> looks);

/// The outermost points of what the looks show in full, clipped: what the camera frames.
[[nodiscard]] std::vector<Eigen::Vector3d> framed_points(const Solids& solids, const Settings& settings,
                                                         std::span<const std::uint32_t> instances);

}  // namespace raylift::viewer
