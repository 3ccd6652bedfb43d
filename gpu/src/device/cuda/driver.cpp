// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include <cuda_runtime_api.h>

namespace raylift::cuda {

void* driver_function(const char* name) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult result{};
#if CUDART_VERSION >= 12050
  const cudaError_t code = cudaGetDriverEntryPointByVersion(name, &address, 12020, cudaEnableDefault, &result);
#else
  const cudaError_t code = cudaGetDriverEntryPoint(name, &address, cudaEnableDefault, &result);
#endif
  if (code != cudaSuccess) (void)cudaGetLastError();
  return code == cudaSuccess && result == cudaDriverEntryPointSuccess ? address : nullptr;
}

VirtualMemory VirtualMemory::find() {
  VirtualMemory found;
  find_driver_function("cuMemAddressReserve", found.reserve);
  find_driver_function("cuMemAddressFree", found.unreserve);
  find_driver_function("cuMemCreate", found.create);
  find_driver_function("cuMemRelease", found.release);
  find_driver_function("cuMemMap", found.map);
  find_driver_function("cuMemUnmap", found.unmap);
  find_driver_function("cuMemSetAccess", found.set_access);
  find_driver_function("cuMemGetAllocationGranularity", found.granularity);
  find_driver_function("cuDeviceGetAttribute", found.attribute);
  find_driver_function("cuGetErrorName", found.error_name);
  return found;
}

bool VirtualMemory::complete() const {
  return reserve != nullptr && unreserve != nullptr && create != nullptr && release != nullptr && map != nullptr &&
         unmap != nullptr && set_access != nullptr && granularity != nullptr && attribute != nullptr &&
         error_name != nullptr;
}

std::string VirtualMemory::name_of(CUresult code) const {
  const char* text = nullptr;
  if (error_name != nullptr && error_name(code, &text) == CUDA_SUCCESS && text != nullptr) return text;
  return "driver error " + std::to_string(static_cast<int>(code));
}

}  // namespace raylift::cuda
