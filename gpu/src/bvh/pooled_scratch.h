// SPDX-License-Identifier: Apache-2.0
// Memory of a device's pool for the time of a build.
#pragma once

#include <raylift/gpu/memory/memory.h>

#include <vector>

#include "bvh_build_kernels.h"

namespace raylift::inline v0_1::detail {

class PooledScratch : public cuda::ScratchMemory {
 public:
  PooledScratch(const Device& device, StreamRef stream) : device_(device), stream_(stream) {}
  void* scratch(std::size_t bytes) override {
    return blocks_.emplace_back(Memory::pooled(device_, stream_, bytes)).device();
  }

 private:
  const Device& device_;
  StreamRef stream_;
  std::vector<Memory> blocks_;
};

}  // namespace raylift::inline v0_1::detail
