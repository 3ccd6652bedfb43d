// SPDX-License-Identifier: Apache-2.0
// Memory of a device's pool for the time of a build.
#pragma once

#include <raylift/geometry/error.h>
#include <raylift/gpu/memory/memory.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "bvh_build_kernels.h"

namespace raylift::detail {

class PooledScratch : public cuda::ScratchMemory {
 public:
  PooledScratch(const Device& device, StreamRef stream) : device_(device), stream_(stream) {}
  void* scratch(std::size_t bytes) override {
    const std::size_t whole = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (whole > left_) return block(bytes);
    left_ -= whole;
    return std::exchange(next_, next_ + whole);
  }
  bool reserve(std::size_t bytes) override {
    left_ = 0;
    try {
      next_ = block(bytes);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::out_of_device_memory) throw;
      return false;
    }
    left_ = bytes;
    return true;
  }

 private:
  std::byte* block(std::size_t bytes) { return blocks_.emplace_back(Memory::pooled(device_, stream_, bytes)).device(); }

  static constexpr std::size_t kAlignment = 256;

  const Device& device_;
  StreamRef stream_;
  std::vector<Memory> blocks_;
  std::byte* next_ = nullptr;  // of what is reserved
  std::size_t left_ = 0;
};

}  // namespace raylift::detail
