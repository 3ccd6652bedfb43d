// SPDX-License-Identifier: Apache-2.0
// How fast kernels read an array, wherever it lies.
#pragma once

#include <cstddef>

namespace raylift::bench {

/// Seconds of one pass over `bytes` bytes at `data` by streaming 16-byte loads, the best of `rounds`.
double seconds_streaming(const void* data, std::size_t bytes, int rounds);
/// Seconds of `gathers` random 12-byte loads from the array, the best of `rounds`.
double seconds_random(const void* data, std::size_t bytes, std::size_t gathers, int rounds);

}  // namespace raylift::bench
