// SPDX-License-Identifier: Apache-2.0
// Address ranges over device and host memory, by the driver's virtual memory management.
#include <algorithm>

#include "cuda_backend.h"

namespace raylift::cuda {

CUmemAllocationProp CudaBackend::properties_of(CUmemLocationType type, int id) const {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = type;
  properties.location.id = id;
  return properties;
}

void CudaBackend::find_virtual_memory() {
  driver_ = VirtualMemory::find();
  if (!driver_.complete()) return;
  const auto attribute = [this](CUdevice_attribute which) {
    int value = 0;
    return driver_.attribute(&value, which, ordinal_) == CUDA_SUCCESS ? value : 0;
  };
  info_.virtual_memory = attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) != 0;
  info_.host_numa_pages = attribute(CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) != 0;
  if (!info_.virtual_memory || !info_.host_numa_pages) return;
  numa_node_ = std::max(attribute(CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID), 0);
  std::size_t of_device = 0;
  std::size_t of_host = 0;
  const CUmemAllocationProp device = properties_of(CU_MEM_LOCATION_TYPE_DEVICE, ordinal_);
  const CUmemAllocationProp host = properties_of(CU_MEM_LOCATION_TYPE_HOST_NUMA, numa_node_);
  if (driver_.granularity(&of_device, &device, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) != CUDA_SUCCESS ||
      driver_.granularity(&of_host, &host, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) != CUDA_SUCCESS)
    return;
  info_.page_bytes = std::max(of_device, of_host);
  info_.splits_arrays = info_.page_bytes != 0;
}

void CudaBackend::check_driver(CUresult code, ErrorKind kind, std::size_t bytes, const char* what) const {
  if (code == CUDA_SUCCESS) return;
  const std::string text = std::string(what) + " of " + std::to_string(bytes) + " bytes on " + info_.id +
                           " failed: " + driver_.name_of(code);
  throw Error(code == CUDA_ERROR_OUT_OF_MEMORY ? kind : ErrorKind::device, text);
}

/// A reserved range is backed by two allocations, one in each memory. Kernels may read and write both; the CPU may
/// write the host's part, at the same address. The driver forbids CPU access to the part on the device.
detail::SplitBlock CudaBackend::allocate_split(std::size_t device_bytes, std::size_t host_bytes) {
  const CurrentDevice current(ordinal_);
  check(current.code(), "selecting " + info_.id);
  const std::size_t page = info_.page_bytes;
  const std::size_t host_pages = (host_bytes + page - 1) / page * page;
  const std::size_t whole = device_bytes + host_pages;

  CUdeviceptr base = 0;
  std::size_t mapped = 0;  // bytes from base on
  try {
    check_driver(driver_.reserve(&base, whole, page, 0, 0), ErrorKind::out_of_host_memory, whole,
                 "reserving addresses");
    const auto back = [&](const CUmemAllocationProp& properties, std::size_t bytes, ErrorKind kind) {
      CUmemGenericAllocationHandle handle = 0;
      CUresult made = driver_.create(&handle, bytes, &properties, 0);
      if (made == CUDA_ERROR_OUT_OF_MEMORY && kind == ErrorKind::out_of_device_memory && unused_by_pool() != 0) {
        trim_pool(0);
        made = driver_.create(&handle, bytes, &properties, 0);
      }
      check_driver(made, kind, bytes, "allocation");
      const CUresult code = driver_.map(base + mapped, bytes, 0, handle, 0);
      // The mapping keeps the memory alive; it goes when it is unmapped.
      (void)driver_.release(handle);
      check_driver(code, kind, bytes, "mapping");
      mapped += bytes;
    };
    back(properties_of(CU_MEM_LOCATION_TYPE_DEVICE, ordinal_), device_bytes, ErrorKind::out_of_device_memory);
    back(properties_of(CU_MEM_LOCATION_TYPE_HOST_NUMA, numa_node_), host_pages, ErrorKind::out_of_host_memory);
    CUmemAccessDesc access[2] = {};
    access[0].location = {CU_MEM_LOCATION_TYPE_DEVICE, {ordinal_}};
    access[0].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    access[1].location = {CU_MEM_LOCATION_TYPE_HOST_NUMA, {numa_node_}};
    access[1].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    check_driver(driver_.set_access(base, device_bytes, access, 1), ErrorKind::device, device_bytes, "granting access");
    check_driver(driver_.set_access(base + device_bytes, host_pages, access, 2), ErrorKind::device, host_pages,
                 "granting access");
  } catch (const Error&) {
    if (mapped != 0) (void)driver_.unmap(base, mapped);
    if (base != 0) (void)driver_.unreserve(base, whole);
    throw;
  }
  auto* address = reinterpret_cast<std::byte*>(base);
  return {address, address + device_bytes, device_bytes, host_bytes};
}

void CudaBackend::release_split(const detail::SplitBlock& block) noexcept {
  const CurrentDevice current(ordinal_);
  // Unlike cudaFree, unmapping does not wait for kernels that still read.
  (void)cudaDeviceSynchronize();
  const std::size_t page = info_.page_bytes;
  const std::size_t whole = block.device_bytes + (block.host_bytes + page - 1) / page * page;
  const auto base = reinterpret_cast<CUdeviceptr>(block.device);
  (void)driver_.unmap(base, whole);
  (void)driver_.unreserve(base, whole);
}

}  // namespace raylift::cuda
