// SPDX-License-Identifier: Apache-2.0
// Reads an upload back, to see that what lies on the device is the scene.
#pragma once

#include <raylift/geometry/scene/scene.h>
#include <raylift/gpu/upload/gpu_geometry.h>

#include <cstdint>

namespace raylift {

/// Compares the geometry's arrays with those that an upload of the scene makes, all but a BVH's, and returns the bytes
/// that were compared. The scene is the one that was uploaded, or the same file loaded again. Throws Error(device),
/// which names the array and the element of the first difference.
std::uint64_t verify_upload(const Scene& scene, const GpuGeometry& geometry);

}  // namespace raylift
