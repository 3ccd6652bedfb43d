// SPDX-License-Identifier: Apache-2.0
// The level of a scene's BVH over its instances, built anew on the device that has the rest.
#pragma once

#include <raylift/gpu/device/device.h>
#include <raylift/gpu/memory/memory.h>
#include <raylift/gpu/view.h>

#include <span>

#include "bvh_build_kernels.h"

namespace raylift::detail {

/// Builds the level over `pieces` into the room at the front of `nodes`, from the transforms in `instances`; without
/// pieces nothing can be hit. Returns the largest coordinate of the instances' boxes, or `reach` if that is larger.
/// Blocks. Throws Error: limit (an instance beyond 1e18 mm), out_of_device_memory, device.
[[nodiscard]] float rebuild_instance_level(const Device& device, Memory& nodes, const Memory& instances,
                                           std::span<const cuda::InstancePiece> pieces, float reach, StreamRef stream);

}  // namespace raylift::detail
