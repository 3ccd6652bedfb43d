// SPDX-License-Identifier: Apache-2.0
// The launches of the kernels that make photons from gensteps.
#pragma once

#include <raylift/photon/genstep.h>

#include <cstddef>

namespace raylift::photon {

/// place_genstep() of each. A cudaError_t, as int; the device is current.
int launch_place_gensteps(const GeometryView& geometry, const Genstep* steps, std::uint64_t seed, GenstepPlace* places,
                          std::uint64_t* photons, std::size_t count, void* stream);
/// generate() of photons first to first + count - 1.
int launch_generate(const GeometryView& geometry, const GenstepView& gensteps, std::uint64_t seed, std::uint64_t first,
                    StartPhoton* photons, Containment* in, std::size_t count, void* stream);

}  // namespace raylift::photon
