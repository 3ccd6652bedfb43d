// SPDX-License-Identifier: Apache-2.0
// Work of one kind on either device: a launch on CUDA, the same function on the host's threads.
#pragma once

#include <raylift/gpu/device/device.h>

#ifdef RAYLIFT_WITH_CUDA
#include "device/cuda/on_cuda.h"
#endif

namespace raylift::detail {

/// On a CUDA device launch(), as cuda::on_cuda() has it; on the host device host(). A build without CUDA compiles
/// launch() and never calls it. Throws Error(device), and what host() throws.
template <class Launch, class Host>
void run_on([[maybe_unused]] const Device& device, [[maybe_unused]] const char* what,
            [[maybe_unused]] const Launch& launch, const Host& host) {
#ifdef RAYLIFT_WITH_CUDA
  if (!device.info().is_host) return cuda::on_cuda(device, what, launch);
#endif
  host();
}

}  // namespace raylift::detail
