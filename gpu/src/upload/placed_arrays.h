// SPDX-License-Identifier: Apache-2.0
// From the sources of an upload to memory for them: placement, allocation, and what goes where.
#pragma once

#include <raylift/gpu/upload/upload.h>

#include <span>
#include <vector>

namespace raylift::detail {

/// An array and its memory: the first bytes on the device, the rest where the host writes.
struct Destination {
  const ArraySource* source = nullptr;
  std::byte* device = nullptr;
  std::size_t device_bytes = 0;
  std::byte* host = nullptr;
  std::size_t host_bytes = 0;
  StoreMode host_mode = StoreMode::cached;
  bool peers_write = false;  ///< other devices may write to its memory
};

/// Throws Error(usage) for options out of their range.
void check_options(const UploadOptions& options);

/// What is uploaded: `sources`, and the options' own arrays after them, for which `joined` is the place. Throws
/// Error(usage) where one of these has another array's name.
[[nodiscard]] std::span<const ArraySource> with_own_arrays(std::span<const ArraySource> sources,
                                                           const UploadOptions& options,
                                                           std::vector<ArraySource>& joined);

/// Places arrays on a device and allocates their memory; the report lacks what only the upload determines. Memory of a
/// resource is for work that follows on `stream`.
[[nodiscard]] ResidentArrays place_arrays(std::span<const ArraySource> sources, const Device& device, StreamRef stream,
                                          const UploadOptions& options, const Progress& progress);

/// Device memory that is free for arrays.
[[nodiscard]] std::uint64_t free_for_arrays(const Device& device, const UploadOptions& options);

/// Where placed arrays are to be filled, in their order.
[[nodiscard]] std::vector<Destination> destinations_of(std::span<const ArraySource> sources,
                                                       const ResidentArrays& resident, const UploadOptions& options);

}  // namespace raylift::detail
