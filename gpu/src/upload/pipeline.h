// SPDX-License-Identifier: Apache-2.0
// The way of the bytes of an upload: from their sources, through staging memory or straight, to where they were placed.
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
  Target host_kind = Target::cached;
  bool peers_write = false;  ///< other devices may write to its memory
};

/// Places arrays on a device and allocates their memory; the report lacks what only the upload can tell.
[[nodiscard]] ResidentArrays place_arrays(std::span<const ArraySource> sources, const Device& device,
                                          const UploadOptions& options, const Progress& progress);

/// Where placed arrays are to be filled, in their order.
[[nodiscard]] std::vector<Destination> destinations_of(std::span<const ArraySource> sources,
                                                       const ResidentArrays& resident, const UploadOptions& options);

/// Fills all arrays, and returns when the last byte has arrived. Tells `stage` the bytes that are on their way, from
/// the calling thread. Whatever it throws, no copy is under way any more then.
void fill_arrays(std::span<const Destination> arrays, const Device& device, const UploadOptions& options,
                 const Stage& stage);

/// The same for the arrays of several devices; `arrays` are those of each, from the same sources in the same order.
void fill_arrays(std::span<const std::vector<Destination>> arrays, std::span<const Device> devices,
                 const UploadOptions& options, const Stage& stage);

/// Writes bytes [begin, end) of an array, which need not start or end with an element: chunks and pages do not care for
/// elements.
void fill_bytes(const ArraySource& source, std::size_t begin, std::size_t end, std::byte* target, Target kind);

}  // namespace raylift::detail
