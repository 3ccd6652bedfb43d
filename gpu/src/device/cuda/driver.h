// SPDX-License-Identifier: Apache-2.0
// The driver's virtual memory functions, found at run time: linking the driver would keep the program from starting
// where there is none.
#pragma once

#include <cuda.h>

#include <string>

namespace raylift::cuda {

struct VirtualMemory {
  decltype(&cuMemAddressReserve) reserve = nullptr;
  decltype(&cuMemAddressFree) unreserve = nullptr;
  decltype(&cuMemCreate) create = nullptr;
  decltype(&cuMemRelease) release = nullptr;
  decltype(&cuMemMap) map = nullptr;
  decltype(&cuMemUnmap) unmap = nullptr;
  decltype(&cuMemSetAccess) set_access = nullptr;
  decltype(&cuMemGetAllocationGranularity) granularity = nullptr;
  decltype(&cuDeviceGetAttribute) attribute = nullptr;
  decltype(&cuGetErrorName) error_name = nullptr;

  /// All of them, or none: then `complete` is false.
  static VirtualMemory find();
  [[nodiscard]] bool complete() const;
  [[nodiscard]] std::string name_of(CUresult code) const;
};

}  // namespace raylift::cuda
