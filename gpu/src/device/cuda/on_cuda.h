// SPDX-License-Identifier: Apache-2.0
// Launches on a CUDA device.
#pragma once

#include <raylift/gpu/device/device.h>

#include <string>

#include "check.h"

namespace raylift::cuda {

/// launch() gives a cudaError_t, as int. The device is current meanwhile. Throws Error: device, and
/// out_of_device_memory where the driver finds no memory for the launch, such as for the threads' local memory.
template <class Launch>
void on_cuda(const Device& device, const std::string& what, const Launch& launch) {
  const CurrentDevice current(device.info().cuda_device);
  check(current.code(), "selecting " + device.info().id);
  const auto code = static_cast<cudaError_t>(launch());
  if (code == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    throw Error(
        ErrorKind::out_of_device_memory,
        "launching " + what + " on " + device.info().id +
            " failed: too little device memory is free; kernels need some for the local memory of their threads",
        {}, "free memory on the device, or use smaller arrays or batches");
  }
  check(code, "launching " + what);
}

}  // namespace raylift::cuda
