// SPDX-License-Identifier: Apache-2.0
// Launches of the kernels that convert rays and hits.
#pragma once

#include <raylift/gpu/rays/arrays.h>

namespace raylift::cuda {

/// Both return a cudaError_t. The device must be current.
int launch_pack_rays(const RayArrays& arrays, Ray* rays, std::size_t count, void* stream);
int launch_unpack_hits(const GeometryView& geometry, const Hit* hits, const HitArrays& arrays, std::size_t count,
                       void* stream);

}  // namespace raylift::cuda
