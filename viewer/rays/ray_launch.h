// SPDX-License-Identifier: Apache-2.0
// The launch of the ray-casting kernel.
#pragma once

#include <cstdint>
#include <string>

#include "rays/ray_kernel.h"

namespace raylift::viewer {

/// Cells [first, first + count) on a CUDA device, in the order of a cudaStream_t. Returns CUDA's error message, or
/// nothing.
[[nodiscard]] std::string launch_cells(int device, const RayFrame& frame, const RayPass& pass, std::uint32_t first,
                                       std::uint32_t count, void* stream);

}  // namespace raylift::viewer
