// SPDX-License-Identifier: Apache-2.0
// What stands for the link to CUDA in a build without it. Nothing is ever registered then.
#ifndef RAYLIFT_WITH_CUDA
#include <raylift/geometry/error.h>

#include "cuda_link.h"

namespace raylift::detail {
namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorKind::device, "an OpenGL buffer can't be shared with CUDA: raylift was built without CUDA");
}

}  // namespace

std::vector<int> cuda_gl_devices(std::string& why_none) {
  why_none = "raylift was built without CUDA";
  return {};
}
void* cuda_register(int, unsigned, MapFlags) {
  refuse();
}
void cuda_unregister(int, void*) noexcept {}
void cuda_set_flags(int, void*, MapFlags) {
  refuse();
}
void cuda_map(int, std::span<void* const>, StreamHandle) {
  refuse();
}
std::byte* cuda_pointer(int, void*, std::size_t) {
  refuse();
}
void cuda_unmap(int, std::span<void* const>, StreamHandle) {
  refuse();
}

}  // namespace raylift::detail
#endif
