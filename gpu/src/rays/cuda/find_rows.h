// SPDX-License-Identifier: Apache-2.0
// Looking on the device whether rays are an image: the host does not wait for it, and graphs can hold it.
#pragma once

#include <raylift/geometry/bvh/ray.h>

#include <cstddef>
#include <cstdint>

namespace raylift::inline v0_1::cuda {

/// In Hit::instance of what is no hit. No instance has these numbers.
inline constexpr std::uint32_t kPending = 0x7FFFFFFFu;  ///< of the first ray of a group that is pending
inline constexpr std::uint32_t kNonePending = 0x7FFFFFFEu, kSomePending = 0x7FFFFFFDu;  ///< of a note

/// What the kernels of a call tell each other. There is no memory but that of the hits, for graphs least of all: so it
/// lies in the place of the first ray's hit, which is written last.
struct RowsNote {
  bvh_detail::Site first;       // what the first ray hits
  std::uint32_t width;          // of an image's rows, or 0: see image_rows.h
  std::uint32_t readers;        // blocks that have read it
  std::uint32_t first_pending;  // 1: the first ray is
  std::uint32_t unused[2];
  std::uint32_t pending;  // whether any group is
};
static_assert(sizeof(RowsNote) == sizeof(Hit));

/// A cudaError_t. The note is on the device. At least rows::kFewestRays rays.
int launch_find_rows(const Ray* rays, std::size_t count, RowsNote* note, void* stream);

}  // namespace raylift::inline v0_1::cuda
