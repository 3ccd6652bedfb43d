// SPDX-License-Identifier: Apache-2.0
// The launch of the kernel that follows photons.
#pragma once

#include <raylift/photon/follow.h>

#include <cstddef>

namespace raylift::photon {

/// Where births are searched from, at an address of the device. A cudaError_t, as int; the device is current.
int launch_anchor(const GeometryView& geometry, const Source& source, Anchor* anchor, void* stream);
/// The solids around each of given photons.
int launch_locate_photons(const GeometryView& geometry, const Source& source, Containment* in, std::size_t count,
                          void* stream);

/// Photons on their way that wait for a boundary. Their order is of no consequence.
struct Waiting {
  std::uint32_t* photons;  ///< numbers from the run's first on
  Pause* pauses;           ///< of each
  std::uint32_t* count;    ///< one number
};

/// Photons that are emitted together: numbers from the run's first on.
struct Births {
  std::uint32_t first, count;
};

/// The ray to a photon's next boundary, and the solids that it starts in. The photon's Pause has the rest of its
/// origin.
struct alignas(16) WaitingRay {
  Ray ray;
  Containment in;
};

/// Working memory for some photons at a time, in the device's memory.
struct Flights {
  std::uint32_t capacity;
  WaitingRay* rays;      ///< of each that waits, in its order
  Boundary* boundaries;  ///< likewise
  struct {
    std::uint32_t* rays;
    std::uint32_t* count;
  } rest;  ///< those rays whose boundary takes a search in full
  Waiting waiting[2];
  Births* births;  ///< the latest
};

/// Follows `count` photons; as many at a time as flights has room for. The host waits while many are on their way.
int launch_propagate(const GeometryView& geometry, const Source& source, const Anchor* anchor, const Run& run,
                     const Flights& flights, Outcome* outcomes, std::uint32_t count, void* stream);

}  // namespace raylift::photon
