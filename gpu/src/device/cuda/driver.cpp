// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include <cuda_runtime_api.h>

namespace raylift::inline v0_1::cuda {

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

namespace {

template <class Function>
void find_one(const char* name, Function& function) {
  function = reinterpret_cast<Function>(driver_function(name));
}

}  // namespace

VirtualMemory VirtualMemory::find() {
  VirtualMemory found;
  find_one("cuMemAddressReserve", found.reserve);
  find_one("cuMemAddressFree", found.unreserve);
  find_one("cuMemCreate", found.create);
  find_one("cuMemRelease", found.release);
  find_one("cuMemMap", found.map);
  find_one("cuMemUnmap", found.unmap);
  find_one("cuMemSetAccess", found.set_access);
  find_one("cuMemGetAllocationGranularity", found.granularity);
  find_one("cuDeviceGetAttribute", found.attribute);
  find_one("cuGetErrorName", found.error_name);
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

}  // namespace raylift::inline v0_1::cuda
