// SPDX-License-Identifier: Apache-2.0
// Vectors of floats, and of doubles.
#pragma once

#include <raylift/geometry/vector_types.h>

#include <Eigen/Core>

namespace raylift::test {

inline Float3 to_float(const Eigen::Vector3d& v) {
  return {static_cast<float>(v.x()), static_cast<float>(v.y()), static_cast<float>(v.z())};
}
inline Eigen::Vector3d to_double(Float3 v) {
  return {v.x, v.y, v.z};
}

}  // namespace raylift::test
