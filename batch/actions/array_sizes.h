// SPDX-License-Identifier: Apache-2.0
// The arrays that an upload of a scene would make, without making them.
#pragma once

#include <raylift/geometry/scene/scene.h>
#include <vector>

#include "gpu/src/memory/plan_placement.h"

namespace raylift::batch {

/// Names and bytes as in the ResidencyReport of upload(scene, ...): in two levels, or flattened.
[[nodiscard]] std::vector<ArraySize> array_sizes(const Scene& scene, bool flat);

[[nodiscard]] std::uint64_t total_bytes(const std::vector<ArraySize>& arrays);

}  // namespace raylift::batch
