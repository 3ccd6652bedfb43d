// SPDX-License-Identifier: Apache-2.0
// How often tests try what is random.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <vector>

#include "../../geometry/src/import/sanitized.h"

namespace raylift::test {

/// Sanitizers look for faults of memory and not of chance, and are slow: there every fifth of what is tried one by one.
constexpr int kStride = kSanitized ? 5 : 1;

/// As much of what is tried at random.
template <typename Count>
constexpr Count effort(Count full) {
  return static_cast<Count>((full + kStride - 1) / kStride);
}

/// As much of a list.
template <typename T>
std::vector<T> some_of(std::initializer_list<T> all) {
  std::vector<T> some;
  for (std::size_t i = 0; i < all.size(); i += kStride) some.push_back(all.begin()[i]);
  return some;
}

}  // namespace raylift::test
