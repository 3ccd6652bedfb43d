// SPDX-License-Identifier: Apache-2.0
// The occupancy of a kernel whose needs are known, for kernels of this program and for those compiled at run time.
#pragma once

#include <raylift/gpu/device/occupancy.h>

#include <functional>

namespace raylift::cuda {

/// What a kernel needs, as the compiler says it.
struct KernelNeeds {
  int most_threads;          ///< per block
  int registers;             ///< per thread
  std::size_t shared_bytes;  ///< per block, static
};

/// On the current device, `ordinal`. `most_blocks` asks CUDA how many fit on a multiprocessor. Throws Error(usage) for
/// a block that can't run there.
[[nodiscard]] Occupancy occupancy_of(int ordinal, const KernelNeeds& needs, int block_threads, std::size_t shared_bytes,
                                     const std::function<int()>& most_blocks);

}  // namespace raylift::cuda
