// SPDX-License-Identifier: Apache-2.0
// What stands for loading modules in a build without CUDA, which has no device to load them on.
#ifndef RAYLIFT_WITH_CUDA
#include <raylift/geometry/error.h>

#include "loaded.h"

namespace raylift::detail {

std::unique_ptr<LoadedModule> load_module(const Device& device, const std::string&) {
  throw Error(ErrorKind::device, "kernels can't be loaded on " + device.info().id + ": raylift was built without CUDA");
}

}  // namespace raylift::detail
#endif
