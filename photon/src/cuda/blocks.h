// SPDX-License-Identifier: Apache-2.0
// The size of launches.
#pragma once

#include <cstddef>

namespace raylift::photon {

/// Blocks that have a thread for each.
inline unsigned blocks_of(std::size_t count, unsigned threads) {
  return static_cast<unsigned>((count + threads - 1) / threads);
}

}  // namespace raylift::photon
