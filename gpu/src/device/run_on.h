// SPDX-License-Identifier: Apache-2.0
// Work of one kind on either device: a launch on CUDA, the same function on the host's threads.
#pragma once

#include <raylift/geometry/error.h>
#include <raylift/gpu/device/device.h>

#include <cstddef>
#include <initializer_list>
#include <string>

#ifdef RAYLIFT_WITH_CUDA
#include "device/cuda/on_cuda.h"
#endif

namespace raylift::detail {

/// Throws Error(usage) where an array of `count` elements is a null pointer.
inline void require_arrays(std::size_t count, std::initializer_list<const void*> arrays) {
  if (count == 0) return;
  for (const void* array : arrays)
    if (array == nullptr)
      throw Error(ErrorKind::usage, "an array of " + std::to_string(count) + " elements is a null pointer", {},
                  "give arrays in the device's memory, such as DeviceBuffer");
}

/// On a CUDA device launch(), as cuda::on_cuda() has it; on the host device host(). A build without CUDA compiles
/// launch() and never calls it. Throws Error: device, out_of_device_memory, and what host() throws.
template <class Launch, class Host>
void run_on([[maybe_unused]] const Device& device, [[maybe_unused]] const char* what,
            [[maybe_unused]] const Launch& launch, const Host& host) {
#ifdef RAYLIFT_WITH_CUDA
  if (!device.info().is_host) return cuda::on_cuda(device, what, launch);
#endif
  host();
}

}  // namespace raylift::detail
