// SPDX-License-Identifier: Apache-2.0
/// Checks of numbers that a caller gave.
#pragma once

#include <raylift/geometry/vector_types.h>

#include <cmath>

namespace raylift::photon {

/// std::hypot is no substitute: of three arguments, libstdc++'s gives 0 for (0, NaN, 0).
inline bool finite(Float3 v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

inline bool at_least_0(float x) {
  return x >= 0 && std::isfinite(x);
}

}  // namespace raylift::photon
