// SPDX-License-Identifier: Apache-2.0
// A kernel's occupancy, as CUDA computes it.
#pragma once

#include <raylift/gpu/device/device.h>

#include <cstddef>
#include <string_view>

namespace raylift {

struct Occupancy {
  int blocks = 0;       ///< resident blocks per multiprocessor
  int warps = 0;        ///< resident warps per multiprocessor
  int most_warps = 0;   ///< that a multiprocessor can hold
  double fraction = 0;  ///< warps / most_warps
  enum class Limit { threads, registers, shared_memory, blocks } limited_by = Limit::threads;
};

[[nodiscard]] std::string_view to_string(Occupancy::Limit limit) noexcept;

/// The occupancy of `kernel` (a __global__ function's address) with `block_threads` threads and `shared_bytes` bytes of
/// dynamic shared memory per block, on a CUDA device. Throws Error: usage for a block that can't run there, device.
[[nodiscard]] Occupancy occupancy(const Device& device, const void* kernel, int block_threads,
                                  std::size_t shared_bytes = 0);

}  // namespace raylift
