// SPDX-License-Identifier: Apache-2.0
// The way of the bytes of an upload: from their sources, through staging memory or straight, to where they were placed.
#pragma once

#include <raylift/gpu/upload.h>

#include <span>

namespace raylift::detail {

/// An array and its memory: the first bytes on the device, the rest where the host writes.
struct Destination {
  const ArraySource* source = nullptr;
  std::byte* device = nullptr;
  std::size_t device_bytes = 0;
  std::byte* host = nullptr;
  std::size_t host_bytes = 0;
  Target host_kind = Target::cached;
};

/// Fills all arrays, and returns when the last byte has arrived. Tells `stage` the bytes that are on their way, from
/// the calling thread. Whatever it throws, no copy is under way any more then.
void fill_arrays(std::span<const Destination> arrays, const Device& device, const UploadOptions& options,
                 const Stage& stage);

/// Writes bytes [begin, end) of an array, which need not start or end with an element: chunks and pages do not care for
/// elements.
void fill_bytes(const ArraySource& source, std::size_t begin, std::size_t end, std::byte* target, Target kind);

}  // namespace raylift::detail
