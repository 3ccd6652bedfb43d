// SPDX-License-Identifier: Apache-2.0
// The least of what several threads say.
#pragma once

#include <atomic>
#include <cstdint>

namespace raylift {

/// Sets `target` to `value` where that is less.
inline void atomic_min(std::atomic_ref<std::uint32_t> target, std::uint32_t value) {
  std::uint32_t seen = target.load(std::memory_order_relaxed);
  while (value < seen && !target.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

}  // namespace raylift
