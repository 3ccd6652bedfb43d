// SPDX-License-Identifier: Apache-2.0
// The driver's functions, those for virtual memory first, found at run time: linking the driver would keep the program
// from starting where there is none.
#pragma once

#include <cuda.h>

#include <string>

namespace raylift::cuda {

/// A function of the driver's by its name; null where there is none.
[[nodiscard]] void* driver_function(const char* name);
template <class Function>
void find_driver_function(const char* name, Function& function) {
  function = reinterpret_cast<Function>(driver_function(name));
}

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
