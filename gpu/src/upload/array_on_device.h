// SPDX-License-Identifier: Apache-2.0
// Arrays that lie on a device before they are placed: what the device itself has computed, and what it needed for that.
#pragma once

#include <raylift/geometry/detail/raw_vector.h>
#include <raylift/gpu/memory/memory.h>
#include <raylift/gpu/upload/array_source.h>

#include <mutex>
#include <utility>

namespace raylift::detail {

/// A whole array in device memory. Placement takes it over if the array is to lie there whole. Otherwise its device
/// memory is released before anything is allocated.
class ArrayOnDevice {
 public:
  /// `only_copy`: the array is nowhere else, so it comes to the host before its device memory is released.
  ArrayOnDevice(const Device& device, Memory memory, bool only_copy)
      : device_(device), memory_(std::move(memory)), only_copy_(only_copy) {}

  /// Bytes that it occupies on a device: none once it was taken over or released.
  [[nodiscard]] std::size_t bytes_on(const Device& device) const {
    return memory_.backend() == device.backend().get() ? memory_.bytes() : 0;
  }
  /// Its memory, for good.
  [[nodiscard]] Memory take() { return std::exchange(memory_, Memory()); }
  /// Releases the device memory. Thread-safe; blocks. Throws Error: out_of_host_memory, device.
  void release();
  /// Bytes [first, first + count), on the host. Releases the device memory first.
  void fill(std::size_t first, std::size_t count, std::byte* target, StoreMode mode);

 private:
  Device device_;
  Memory memory_;
  bool only_copy_;
  std::once_flag released_;
  RawVector<std::byte> on_host_;
};

/// The source of an array of a GeometryView that was computed on the device.
[[nodiscard]] ArraySource computed_source(ViewArray array, std::size_t element_bytes, const Device& device,
                                          Memory memory);

/// Brings what lies on devices only to the host, for sources that are used more than once.
void release_from_devices(std::span<const ArraySource> sources);

}  // namespace raylift::detail
