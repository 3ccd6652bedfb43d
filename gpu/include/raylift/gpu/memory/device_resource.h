// SPDX-License-Identifier: Apache-2.0
// Device memory out of a program's own allocator, such as RMM's or CUB's. docs/linking.md has an adapter for RMM.
#pragma once

#include <raylift/gpu/device/device.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace raylift::inline v0_1 {

/// Gives out device memory in a stream's order, as rmm::mr::device_memory_resource does. Called by one thread at a time
/// for one upload; uploads of several threads may call at the same time.
class DeviceResource {
 public:
  virtual ~DeviceResource() = default;

  /// `bytes` of device memory, never 0, aligned to 256 bytes, for work that follows on `stream`. Throws
  /// Error(out_of_device_memory), or a std::bad_alloc, where it has none; null is taken for the same.
  [[nodiscard]] virtual void* allocate(std::size_t bytes, StreamRef stream) = 0;
  /// Takes back what allocate(bytes, stream) gave. Work on `stream` may still use it; other work is done with it.
  virtual void deallocate(void* device, std::size_t bytes, StreamRef stream) noexcept = 0;
  /// How much allocate() can give now, where that is known: placement then plans with it in place of the device's free
  /// memory, and splits no array, as that would take device memory beside it.
  [[nodiscard]] virtual std::optional<std::uint64_t> free_bytes() const { return std::nullopt; }
};

}  // namespace raylift::inline v0_1
