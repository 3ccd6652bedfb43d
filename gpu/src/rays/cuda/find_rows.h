// SPDX-License-Identifier: Apache-2.0
// Looking on the device whether rays are an image: the host does not wait for it, and graphs can hold it.
#pragma once

#include <raylift/geometry/bvh/ray.h>

#include <cstddef>
#include <cstdint>

namespace raylift::cuda {

/// What the kernels of a call tell each other. There is no memory but that of the hits, for graphs least of all: so it
/// lies in the place of the first ray's hit, which comes there when all blocks have read it. `none_pending` stays: in
/// the word of Hit::instance it is a bit that no instance has.
struct RowsNote {
  std::uint32_t width;       // of an image's rows, or 0: see image_rows.h
  std::uint32_t readers;     // blocks that have read it
  std::uint32_t no_packets;  // not 0: none of the groups looked at may be a packet, so none are tried
  std::uint32_t unused[4];
  std::uint32_t none_pending;  // kNonePending, or 0
};
static_assert(sizeof(RowsNote) == sizeof(Hit));
inline constexpr std::uint32_t kNonePending = 0x40000000u;

/// A cudaError_t. The note is on the device. At least rows::kFewestRays rays.
int launch_find_rows(const Ray* rays, std::size_t count, RowsNote* note, void* stream);

}  // namespace raylift::cuda
