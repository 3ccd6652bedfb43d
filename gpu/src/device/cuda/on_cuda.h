// SPDX-License-Identifier: Apache-2.0
// Launches on a CUDA device.
#pragma once

#include <raylift/gpu/device/device.h>

#include <string>

#include "check.h"

namespace raylift::cuda {

/// launch() gives a cudaError_t, as int. The device is current meanwhile. Throws Error(device).
template <class Launch>
void on_cuda(const Device& device, const std::string& what, const Launch& launch) {
  const CurrentDevice current(device.info().cuda_device);
  check(current.code(), "selecting " + device.info().id);
  check(static_cast<cudaError_t>(launch()), "launching " + what);
}

}  // namespace raylift::cuda
