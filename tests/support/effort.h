// SPDX-License-Identifier: Apache-2.0
// How often tests try what is random.
#pragma once

#include "../../geometry/src/import/sanitized.h"

namespace raylift::test {

/// Sanitizers look for faults of memory and not of chance, and are slow: there every fifth of what is tried one by one.
constexpr int kStride = kSanitized ? 5 : 1;

/// As much of what is tried at random.
template <typename Count>
constexpr Count effort(Count full) {
  return static_cast<Count>((full + kStride - 1) / kStride);
}

}  // namespace raylift::test
