// SPDX-License-Identifier: Apache-2.0
// The least and the greatest value that several threads find.
#pragma once

#include <atomic>
#include <type_traits>

namespace raylift::base {

/// Sets `target`, a std::atomic or a std::atomic_ref, to `value` where that is less. The order is relaxed: other memory
/// is not synchronized.
template <class Atomic>
void atomic_min(Atomic&& target, typename std::remove_reference_t<Atomic>::value_type value) {
  auto seen = target.load(std::memory_order_relaxed);
  while (value < seen && !target.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

/// Sets `target` to `value` where that is greater.
template <class Atomic>
void atomic_max(Atomic&& target, typename std::remove_reference_t<Atomic>::value_type value) {
  auto seen = target.load(std::memory_order_relaxed);
  while (seen < value && !target.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

}  // namespace raylift::base
