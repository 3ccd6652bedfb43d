// SPDX-License-Identifier: Apache-2.0
// Many photons from birth to end.
#pragma once

#include <raylift/gpu/device/device.h>
#include <raylift/gpu/upload/gpu_geometry.h>
#include <raylift/photon/follow.h>

#include <cstddef>

namespace raylift::photon {

/// Follows photons run.first to run.first + count - 1 and writes their outcomes, in order, to an array of `count` in
/// the device's memory. The same bits come out for any split into calls, and on any device. On a CUDA device the work
/// is in the stream's order; the host waits while many photons are active, but not for the last of them. Errors: usage
/// (no BVH, no optics, a null pointer), device.
void propagate(const GpuGeometry& geometry, const Source& source, const Run& run, Outcome* outcomes, std::size_t count,
               StreamRef stream);

/// Throws Error(unsupported), with their names, if surfaces of Geant4's look-up tables are in use. In propagate() a
/// photon that meets one ends as inconsistent.
void refuse_unsimulated(const Scene& scene);

}  // namespace raylift::photon
