// SPDX-License-Identifier: Apache-2.0
// Device memory from a program's own allocator, such as RMM's or CUB's.
// docs/linking.md has an adapter for RMM.
#pragma once

#include <raylift/gpu/device/device.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace raylift {

/// A stream-ordered allocator of device memory, as rmm::mr::device_memory_resource. Called by one thread at a time for
/// one upload; uploads of several threads may call at the same time.
class DeviceResource {
 public:
  virtual ~DeviceResource() = default;

  /// `bytes` of device memory, never 0, aligned to 256 bytes, for work that follows on `stream`. If it has none, throws
  /// Error(out_of_device_memory) or a std::bad_alloc, or returns null.
  [[nodiscard]] virtual void* allocate(std::size_t bytes, StreamRef stream) = 0;
  /// Frees memory of allocate(bytes, stream). Work on `stream` may still use it; other work has ended.
  virtual void deallocate(void* device, std::size_t bytes, StreamRef stream) noexcept = 0;
  /// The bytes that allocate() can provide now, if known. Placement then uses this number in place of the device's free
  /// memory, and splits no array, because a split needs device memory from outside the resource.
  [[nodiscard]] virtual std::optional<std::uint64_t> free_bytes() const { return std::nullopt; }
};

}  // namespace raylift
