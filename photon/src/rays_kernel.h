// SPDX-License-Identifier: Apache-2.0
// The launch of the kernel that makes rays.
#pragma once

#include <raylift/photon/detail/birth.h>

#include <cstddef>

namespace raylift::photon {

/// A cudaError_t, as int; the device is current.
int launch_make_rays(const GeometryView& geometry, const Source& source, std::uint64_t seed, std::uint64_t first,
                     Ray* rays, std::size_t count, void* stream);

}  // namespace raylift::photon
