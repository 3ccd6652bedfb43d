// SPDX-License-Identifier: Apache-2.0
// How often tests try what is random.
#pragma once

#include "../../geometry/src/import/sanitized.h"

namespace raylift::test {

/// A fifth under sanitizers, which look for faults of memory and not of chance, and are slow.
constexpr int effort(int full) {
  return kSanitized ? (full + 4) / 5 : full;
}

}  // namespace raylift::test
