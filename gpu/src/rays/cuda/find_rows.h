// SPDX-License-Identifier: Apache-2.0
// Looking on the device whether rays are an image: the host does not wait for it, and graphs can hold it.
#pragma once

#include <raylift/geometry/bvh/ray.h>

#include <cstddef>
#include <cstdint>

namespace raylift::cuda {

/// What the kernels of a call find out for those that follow, in scratch memory.
struct RowsNote {
  std::uint32_t width;       // of an image's rows, or 0: see image_rows.h
  std::uint32_t no_packets;  // not 0: none of the groups examined may be a packet, so none are tried
  std::uint32_t pending;     // not 0: the packets' kernel has left groups for the next one
};

/// A cudaError_t. The note is on the device. At least rows::kFewestRays rays.
int launch_find_rows(const Ray* rays, std::size_t count, RowsNote* note, void* stream);

}  // namespace raylift::cuda
