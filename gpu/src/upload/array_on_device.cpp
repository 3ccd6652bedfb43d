// SPDX-License-Identifier: Apache-2.0
#include "array_on_device.h"

#include <raylift/geometry/error.h>

#include <new>

namespace raylift::detail {

void ArrayOnDevice::release() {
  std::call_once(released_, [this] {
    if (only_copy_ && memory_.bytes() != 0) {
      try {
        on_host_.resize(memory_.bytes());
      } catch (const std::bad_alloc&) {
        throw Error(ErrorKind::out_of_host_memory, "no memory for an array that the device has computed");
      }
      const Stream stream(device_);
      memory_.copy_to(on_host_, stream);
      stream.synchronize();
    }
    memory_ = {};
  });
}

void ArrayOnDevice::fill(std::size_t first, std::size_t count, std::byte* target, StoreMode mode) {
  release();
  copy_bytes(on_host_.data() + first, target, count, mode);
}

ArraySource computed_source(ViewArray array, std::size_t element_bytes, const Device& device, Memory memory) {
  const std::size_t count = memory.bytes() / element_bytes;
  const auto held = std::make_shared<ArrayOnDevice>(device, std::move(memory), true);
  ArraySource source =
      view_source(array, element_bytes, count,
                  [held, element_bytes](std::size_t first, std::size_t n, std::byte* target, StoreMode mode) {
                    held->fill(first * element_bytes, n * element_bytes, target, mode);
                  });
  source.on_device = held;
  return source;
}

void release_from_devices(std::span<const ArraySource> sources) {
  for (const ArraySource& source : sources)
    if (source.on_device) source.on_device->release();
}

}  // namespace raylift::detail
