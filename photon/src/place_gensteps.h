// SPDX-License-Identifier: Apache-2.0
// Gensteps on a device: what is checked of them, and where they are.
#pragma once

#include <raylift/gpu/upload/gpu_geometry.h>
#include <raylift/photon/detail/events.h>
#include <raylift/photon/genstep.h>

#include <cstddef>

namespace raylift::photon {

/// Throws Error: unsupported (its type), malformed (its numbers); `number` is for the message.
void check(const Genstep& genstep, std::size_t number);

/// place_genstep() of each, in the stream's order: the number in its event decides. `events` has the ends of gensteps;
/// without events all have one `seed`. Arrays are at addresses of the device; positions are from the view's origin.
void place_gensteps(const GpuGeometry& geometry, const Genstep* steps, const EventView& events, std::uint64_t seed,
                    GenstepPlace* places, std::uint64_t* photons, std::size_t count, StreamRef stream);

/// Throws Error(malformed) where a step of scintillation has photons, and its material no spectrum for them.
void check_light(const Genstep& genstep, const GenstepPlace& place, std::uint64_t photons, std::size_t number);

}  // namespace raylift::photon
