// SPDX-License-Identifier: Apache-2.0
// The launches of the kernels that make photons from gensteps, and what births of several events need.
#pragma once

#include "generate.h"

#include <cstddef>

namespace raylift::photon {

/// place_genstep() of the step at place i, whose number in its event decides.
RAYLIFT_HD inline GenstepPlace place_of(const GeometryView& geometry, const Genstep* steps, const EventView& events,
                                        std::uint64_t seed, std::size_t i, std::uint64_t& photons) {
  std::uint64_t number = i;
  if (events.count != 0) {
    const std::uint32_t event = events.find(i);
    seed = events.keys[event].seed;
    number = events.number(i, event);
  }
  return place_genstep(geometry, steps[i], seed, number, photons);
}

/// place_of() each; `events` has the ends of gensteps. A cudaError_t, as int; the device is current.
int launch_place_gensteps(const GeometryView& geometry, const Genstep* steps, const EventView& events,
                          std::uint64_t seed, GenstepPlace* places, std::uint64_t* photons, std::size_t count,
                          void* stream);
/// generate() of photons first to first + count - 1.
int launch_generate(const GeometryView& geometry, const GenstepView& gensteps, const EventView& events,
                    std::uint64_t seed, std::uint64_t first, StartPhoton* photons, Containment* in, std::size_t count,
                    void* stream);
/// The anchor of each source.
int launch_event_anchors(const GeometryView& geometry, EventSource* sources, std::size_t count, void* stream);

}  // namespace raylift::photon
