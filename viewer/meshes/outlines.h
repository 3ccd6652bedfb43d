// SPDX-License-Identifier: Apache-2.0
// The lines of a drawing: feature edges, silhouettes, and where planes cut solids, in the world. Whether others hide
// them, line_drawing.h finds. No GL.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <span>

#include "cli/camera.h"
#include "model/settings/settings.h"

namespace raylift::viewer {

struct Outline {
  Eigen::Vector3d from, to;  ///< mm
  std::uint32_t solid = 0;   ///< index in Scene::instances
  bool silhouette = false;   ///< faces turn away from the eye there
  bool faint = false;
};

/// Calls `use` with the lines of each solid in `solids`, solid by solid, without regard to what hides them. `looks` has
/// the Look of each instance; empty: all are solid. Each mesh's edges are found once.
void for_outlines(const Scene& scene, const Settings& settings, const Camera& camera,
                  std::span<const std::uint8_t> looks, std::span<const std::uint32_t> solids,
                  const std::function<void(std::span<const Outline>)>& use);

}  // namespace raylift::viewer
