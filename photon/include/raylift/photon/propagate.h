// SPDX-License-Identifier: Apache-2.0
// Many photons from birth to end.
#pragma once

#include <raylift/gpu/device/device.h>
#include <raylift/gpu/upload/gpu_geometry.h>
#include <raylift/photon/follow.h>

#include <cstddef>

namespace raylift::photon {

/// Follows photons run.first to run.first + count - 1 and writes their outcomes, in order, to an array of `count` in
/// the device's memory. The same bits come out for any split into calls, and on any device. Asynchronous with respect
/// to the host on a CUDA device, after what is on the stream. Errors: usage (no BVH, no optics), device.
void propagate(const GpuGeometry& geometry, const Source& source, const Run& run, Outcome* outcomes, std::size_t count,
               const Stream& stream);

}  // namespace raylift::photon
