// SPDX-License-Identifier: Apache-2.0
// The batch kernel's launch.
#pragma once

#include <raylift/gpu/rays/query.h>

#include <cstddef>

namespace raylift::inline v0_1::cuda {

/// Returns a cudaError_t. The device must be current.
int launch_trace(const BvhView& bvh, const Ray* rays, Hit* hits, std::size_t count, void* stream);

int launch_trace(const GeometryView& geometry, const Ray* rays, Hit* hits, std::size_t count, void* stream);

}  // namespace raylift::inline v0_1::cuda
