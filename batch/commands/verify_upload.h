// SPDX-License-Identifier: Apache-2.0
// Reading an upload back, to see that what lies on the device is the scene.
#pragma once

#include <raylift/gpu/upload/gpu_geometry.h>

namespace raylift::batch {

/// Compares all arrays of the geometry with the scene that it was made of, and returns how many bytes that were. Throws
/// Error(device) that names the array and the element of the first difference.
std::uint64_t verify_upload(const Scene& scene, const GpuGeometry& geometry, bool flattened);

}  // namespace raylift::batch
