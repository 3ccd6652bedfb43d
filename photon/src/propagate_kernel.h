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

/// The ray to a photon's next boundary, and the solids that it starts in. The photon's Pause has the rest of its
/// origin.
struct alignas(16) WaitingRay {
  Ray ray;
  Containment in;
};

/// Photons on their way that wait for a boundary. Their order is of no consequence.
struct Waiting {
  std::uint32_t* photons;  ///< numbers from the run's first on
  Pause* pauses;           ///< of each
  WaitingRay* rays;        ///< likewise
  std::uint32_t* count;    ///< how many, one number
};

/// Photons that are emitted together: numbers from the run's first on.
struct Births {
  std::uint32_t first, count;
};

/// Numbers of photons on their way, of the lists of Flights.
struct FlightCounts {
  std::uint32_t waiting[3];
  std::uint32_t rest[2];   ///< of a round and the one before: those whose boundary takes a search in full
  std::uint32_t searched;  ///< how many of those that wait have been taken for a search
  Births births;           ///< the latest
};

/// Working memory for some photons at a time, in the device's memory: three lists of photons that wait. A round goes
/// from one of them to the next; the rest of it goes to the one behind that, beside the next round.
struct Flights {
  std::uint32_t capacity;         ///< of each list
  Waiting waiting;                ///< the three lists, one behind the other; their numbers are in `counts` alone
  bvh_detail::FoundFaces* found;  ///< by the search of a round and of the one before, of each that waits
  std::uint32_t* rest;            ///< likewise, places in the list of those that wait
  FlightCounts* counts;
};

/// Follows `count` photons; as many at a time as flights has room for. The host waits while many are on their way.
int launch_propagate(const GeometryView& geometry, const Source& source, const Anchor* anchor, const Run& run,
                     const Flights& flights, Outcome* outcomes, std::uint32_t count, void* stream);

}  // namespace raylift::photon
