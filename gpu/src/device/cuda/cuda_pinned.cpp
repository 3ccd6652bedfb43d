// SPDX-License-Identifier: Apache-2.0
// Pinned host memory.
#include "cuda_backend.h"

namespace raylift::cuda {

detail::HostBlock CudaBackend::allocate_pinned(std::size_t bytes, PinnedFlags flags) {
  const CurrentDevice current(ordinal_);
  // Registered memory can't be write-combined.
  if (!flags.write_combined && bytes >= OwnPages::kFewest)
    if (void* const pages = own_pages_.map(bytes); pages != nullptr) {
      try {
        return register_host(pages, bytes, flags);
      } catch (const Error&) {
        own_pages_.unmap(pages);  // and CUDA is asked for them
      }
    }
  unsigned bits = cudaHostAllocDefault;
  if (flags.portable) bits |= cudaHostAllocPortable;
  if (flags.mapped) bits |= cudaHostAllocMapped;
  if (flags.write_combined) bits |= cudaHostAllocWriteCombined;
  detail::HostBlock block{nullptr, nullptr, bytes};
  check_allocation(cudaHostAlloc(&block.host, bytes, bits), ErrorKind::out_of_host_memory, bytes,
                   "allocation of pinned memory");
  if (!flags.mapped) return block;
  const cudaError_t code = cudaHostGetDevicePointer(&block.device, block.host, 0);
  if (code != cudaSuccess) release_pinned(block);
  check(code, "cudaHostGetDevicePointer");
  return block;
}

void CudaBackend::release_pinned(const detail::HostBlock& block) noexcept {
  const CurrentDevice current(ordinal_);
  if (block.host == nullptr) return;
  if (own_pages_.has(block.host)) {
    (void)cudaHostUnregister(block.host);
    own_pages_.unmap(block.host);
  } else {
    (void)cudaFreeHost(block.host);
  }
}

detail::HostBlock CudaBackend::register_host(void* host, std::size_t bytes, PinnedFlags flags) {
  const CurrentDevice current(ordinal_);
  unsigned bits = cudaHostRegisterDefault;
  if (flags.portable) bits |= cudaHostRegisterPortable;
  if (flags.mapped) bits |= cudaHostRegisterMapped;
  detail::HostBlock block{host, nullptr, bytes};
  check_allocation(cudaHostRegister(host, bytes, bits), ErrorKind::out_of_host_memory, bytes,
                   "registration of host memory");
  if (!flags.mapped) return block;
  const cudaError_t code = cudaHostGetDevicePointer(&block.device, host, 0);
  if (code != cudaSuccess) unregister_host(block);
  check(code, "cudaHostGetDevicePointer");
  return block;
}

void CudaBackend::unregister_host(const detail::HostBlock& block) noexcept {
  const CurrentDevice current(ordinal_);
  (void)cudaHostUnregister(block.host);
}

}  // namespace raylift::cuda
