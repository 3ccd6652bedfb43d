// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>
#include <raylift/gpu/device/address.h>

namespace raylift {

int cuda_device_of(const void* address) noexcept {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, address) != cudaSuccess) {
    (void)cudaGetLastError();  // or it would turn up at an unrelated call
    return -1;
  }
  return attributes.type == cudaMemoryTypeDevice ? attributes.device : -1;
}

}  // namespace raylift
