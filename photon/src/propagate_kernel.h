// SPDX-License-Identifier: Apache-2.0
// The launch of the kernel that follows photons.
#pragma once

#include <raylift/photon/follow.h>

#include <cstddef>

namespace raylift::photon {

/// The solids around the source's centre, at an address of the device. A cudaError_t, as int; the device is current.
int launch_locate(const GeometryView& geometry, const Source& source, Containment* at_center, void* stream);
/// The solids around each of given photons.
int launch_locate_photons(const GeometryView& geometry, const StartPhoton* photons, Containment* in, std::size_t count,
                          void* stream);
int launch_propagate(const GeometryView& geometry, const Source& source, const Containment* at_center, const Run& run,
                     Outcome* outcomes, std::size_t count, void* stream);

}  // namespace raylift::photon
