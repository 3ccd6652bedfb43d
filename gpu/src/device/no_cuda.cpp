// SPDX-License-Identifier: Apache-2.0
// What stands for the CUDA backend in a build without CUDA.
#ifndef RAYLIFT_WITH_CUDA
#include <raylift/geometry/error.h>
#include <raylift/gpu/device/address.h>
#include <raylift/gpu/device/backend.h>
#include <raylift/gpu/device/occupancy.h>

namespace raylift {

std::shared_ptr<detail::Backend> detail::make_cuda_backend(int ordinal) {
  throw Error(ErrorKind::device, "cuda:" + std::to_string(ordinal) + " can't be used: raylift was built without CUDA",
              {}, "build it where the CUDA toolkit is installed, or use the host device");
}

int cuda_device_count(std::string* why_none) {
  if (why_none != nullptr) *why_none = "raylift was built without CUDA";
  return 0;
}

int cuda_device_of(const void*) noexcept {
  return -1;
}

Occupancy occupancy(const Device&, const void*, int, std::size_t) {
  throw Error(ErrorKind::device, "occupancy can't be asked for: raylift was built without CUDA");
}

}  // namespace raylift
#endif
