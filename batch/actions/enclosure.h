// SPDX-License-Identifier: Apache-2.0
// Whether rays from a ball must hit something, whatever their directions.
#pragma once

#include <raylift/geometry/scene/scene.h>
#include <cstdint>
#include <optional>

#include "ray_pattern.h"

namespace raylift::batch {

/// A solid with a watertight mesh that the whole ball lies within: its number in Scene::instances. Nothing where there
/// is none, or none is found among the first few candidates.
[[nodiscard]] std::optional<std::uint32_t> enclosing_solid(const Scene& scene, const Ball& ball);

}  // namespace raylift::batch
