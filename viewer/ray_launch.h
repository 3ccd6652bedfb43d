// SPDX-License-Identifier: Apache-2.0
// The launch of the ray-cast picture's kernel.
#pragma once

#include <cstdint>
#include <string>

#include "ray_kernel.h"

namespace raylift::viewer {

/// Cells [first, first + count) on a CUDA device, in the order of a cudaStream_t. Returns CUDA's words for what failed.
[[nodiscard]] std::string launch_cells(int device, const RayPicture& picture, const RayPass& pass, std::uint32_t first,
                                       std::uint32_t count, void* stream);

}  // namespace raylift::viewer
