// SPDX-License-Identifier: Apache-2.0
// The launch of the kernel that follows photons.
#pragma once

#include <raylift/photon/follow.h>

#include <cstddef>

namespace raylift::photon {

/// Where births are searched from, at an address of the device. A cudaError_t, as int; the device is current.
int launch_anchor(const GeometryView& geometry, const Source& source, Anchor* anchor, void* stream);
/// The solids around each of given photons.
int launch_locate_photons(const GeometryView& geometry, const StartPhoton* photons, Containment* in, std::size_t count,
                          void* stream);

/// Photons on their way that wait for a boundary. Their order is of no consequence.
struct Waiting {
  std::uint32_t* photons;  ///< numbers from the run's first on
  std::uint32_t* count;    ///< one number
};

/// Working memory for some photons at a time, in the device's memory.
struct Flights {
  Pause* pauses;         ///< of each photon
  Ray* rays;             ///< of each that waits, in its order
  Boundary* boundaries;  ///< likewise
  Waiting waiting[2];
};

/// Follows `count` photons, no more than flights has room for. The host waits while many are on their way.
int launch_propagate(const GeometryView& geometry, const Source& source, const Anchor* anchor, const Run& run,
                     const Flights& flights, Outcome* outcomes, std::uint32_t count, void* stream);

}  // namespace raylift::photon
