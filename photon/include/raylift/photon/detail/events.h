// SPDX-License-Identifier: Apache-2.0
// The events whose photons share a launch. A photon then has a place in the launch, where the events follow one
// another, and a number in its event, on which its random numbers depend.
#pragma once

#include <raylift/geometry/detail/standard.h>
#include <raylift/geometry/vector_types.h>

namespace raylift::photon {

/// The key of an event's random numbers.
struct alignas(16) EventKey {
  std::uint64_t seed;
  std::uint64_t offset;  ///< of a photon's number in its event from its place in the launch, modulo 2^64
};

/// The events of a launch, at addresses of the device. Or, with the ends of other ranges, of its gensteps.
struct EventView {
  const EventKey* keys = nullptr;
  const std::uint64_t* ends = nullptr;  ///< of each event, the place after its last photon: ascending
  std::uint32_t count = 0;              ///< 0: the launch has one event, and places are numbers

  /// The event of a place that is before the last end.
  [[nodiscard]] RAYLIFT_HD std::uint32_t find(std::uint64_t place) const {
    std::uint32_t low = 0, high = count - 1;
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (ends[middle] > place)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }
  /// The number, in that event, of the photon at a place.
  [[nodiscard]] RAYLIFT_HD std::uint64_t number(std::uint64_t place, std::uint32_t event) const {
    return count == 0 ? place : place + keys[event].offset;
  }
};

}  // namespace raylift::photon
