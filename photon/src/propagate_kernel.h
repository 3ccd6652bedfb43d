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

// What a photon carries from kernel to kernel, in parts of 16 bytes, all of which are used. One more part also needs
// its array in Waiting, FlightMemory and kFlightBytes (propagate.cpp), waiting_in() (cuda/launches.h), WaitingParts,
// parts_of(), resumed() and wait_at() (cuda/waiting.h), Staged (cuda/propagate.cu), and same() in
// tests/photon/shells.h.

/// Where its ray starts and ends.
struct alignas(16) WaitingStart {
  LocalPoint origin;
  float tmax;
};
/// The direction of its ray, and the innermost solid that it starts in; see solids_of_waiting().
struct alignas(16) WaitingWay {
  Float3 direction;
  std::uint32_t solid;
};
/// Its polarisation and wavelength.
struct alignas(16) WaitingLight {
  Float3 polarization;
  float wavelength;
};
/// Its history, number of steps and time, as in Outcome.
struct alignas(16) WaitingPast {
  std::uint64_t history;
  std::uint32_t steps;
  float time;
};
/// Its number, and the state of its Follower.
struct alignas(16) WaitingNumbers {
  std::uint32_t photon;  ///< from the run's first on
  std::uint32_t pause;   ///< Pause::drawn_and_phase
  std::uint16_t kinds;
  std::uint16_t material;  ///< of the step; MaterialCode::none: its steps have not begun
  std::uint32_t event;
};
static_assert(sizeof(WaitingStart) == 16 && sizeof(WaitingWay) == 16 && sizeof(WaitingLight) == 16 &&
              sizeof(WaitingPast) == 16 && sizeof(WaitingNumbers) == 16);
struct alignas(8) WaitingExceptions {
  std::uint32_t solids[2];  ///< Containment::exceptions
};

/// Photons on their way that wait for a boundary. Their order is of no consequence. Each part has an array of its own:
/// the threads of a warp read and write memory side by side.
struct Waiting {
  WaitingStart* starts;
  WaitingWay* ways;
  WaitingLight* lights;
  WaitingPast* pasts;
  WaitingNumbers* numbers;
  WaitingExceptions* exceptions;
  Float3* rests;         ///< of their origins, in a fine geometry; null in others
  std::uint32_t* count;  ///< how many, one number
};

/// Photons that are emitted together: numbers from the run's first on.
struct Births {
  std::uint32_t first, count;
};

/// Numbers of photons on their way, of the lists of Flights.
struct FlightCounts {
  std::uint32_t waiting[3];
  std::uint32_t postponed[2];  ///< of a round and the one before: those whose boundary takes a search in full
  std::uint32_t searched;      ///< how many of those that wait have been taken for a search
  Births births;               ///< the latest
};

/// Working memory for some photons at a time, in the device's memory: three lists of photons that wait. A round goes
/// from one of them to the next; photons that it postpones go to the one behind that, beside the next round.
struct Flights {
  std::uint32_t capacity;         ///< of each list
  Waiting waiting;                ///< the three lists, one behind the other; their numbers are in `counts` alone
  bvh_detail::FoundFaces* found;  ///< by the search of a round and of the one before, of each that waits
  std::uint32_t* postponed;       ///< likewise, places in the list of those that wait
  FlightCounts* counts;
};

/// Follows `count` photons; as many at a time as flights has room for. The host waits while many are on their way.
int launch_propagate(const GeometryView& geometry, const Source& source, const Anchor* anchor, const Run& run,
                     const Flights& flights, Outcome* outcomes, std::uint32_t count, void* stream);
/// Launches the kernels that follow photons, on no photons, and waits for them. Fails with cudaErrorMemoryAllocation
/// where the device has no room for their threads' local memory: the driver allocates that at the first launch, and
/// keeps it.
int launch_propagate_ahead(const GeometryView& geometry, const Source& source, const Anchor* anchor, const Run& run,
                           const Flights& flights, Outcome* outcomes, void* stream);

}  // namespace raylift::photon
