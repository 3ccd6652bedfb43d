// SPDX-License-Identifier: Apache-2.0
// CUDA's error codes as raylift's errors.
#pragma once

#include <cuda_runtime_api.h>
#include <raylift/geometry/error.h>

#include <string>

namespace raylift::cuda {

/// Throws Error(device) for anything but success. CUDA's own memory of the error is cleared first, so that it does not
/// turn up at an unrelated call.
inline void check(cudaError_t code, const std::string& what) {
  if (code == cudaSuccess) return;
  (void)cudaGetLastError();
  throw Error(ErrorKind::device, what + " failed: " + cudaGetErrorName(code) + ", " + cudaGetErrorString(code));
}

/// The same for an allocation, whose failure for want of memory is of `kind`.
inline void check_allocation(cudaError_t code, ErrorKind kind, std::size_t bytes, const std::string& what) {
  if (code == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    throw Error(kind, what + " of " + std::to_string(bytes) + " bytes failed: out of memory");
  }
  check(code, what + " of " + std::to_string(bytes) + " bytes");
}

/// Makes a device the calling thread's current one for a scope.
class CurrentDevice {
 public:
  explicit CurrentDevice(int ordinal) {
    if (cudaGetDevice(&before_) != cudaSuccess) before_ = ordinal;
    changed_ = before_ != ordinal;
    code_ = cudaSetDevice(ordinal);
  }
  ~CurrentDevice() {
    if (changed_) (void)cudaSetDevice(before_);
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  [[nodiscard]] cudaError_t code() const { return code_; }

 private:
  int before_ = 0;
  bool changed_ = false;
  cudaError_t code_ = cudaSuccess;
};

}  // namespace raylift::cuda
