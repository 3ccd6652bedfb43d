// SPDX-License-Identifier: Apache-2.0
// Photons of gensteps as an array.
#pragma once

#include <raylift/gpu/device/device.h>
#include <raylift/photon/genstep.h>

#include <cstddef>

namespace raylift::photon {

/// generate() of photons first to first + count - 1, in the stream's order. Errors: device.
void generate_photons(const Device& device, const GeometryView& view, const GenstepView& gensteps, std::uint64_t seed,
                      std::uint64_t first, StartPhoton* photons, Containment* in, std::size_t count,
                      const Stream& stream);

}  // namespace raylift::photon
