// SPDX-License-Identifier: Apache-2.0
// Points and transforms as Eigen's types. Eigen's convert to raylift's on their own: see Double3 and Transform. This
// header alone needs Eigen.
#pragma once

#include <raylift/geometry/vector_types.h>
#include <Eigen/Geometry>

namespace raylift {

/// A Transform as Eigen has it: 3x4 in double. Unaligned, so that it may stand in any container and in any ABI.
using EigenTransform = Eigen::Transform<double, 3, Eigen::AffineCompact, Eigen::DontAlign>;

[[nodiscard]] inline Eigen::Vector3d to_eigen(const Double3& v) {
  return {v.x, v.y, v.z};
}

[[nodiscard]] inline EigenTransform to_eigen(const Transform& transform) {
  EigenTransform result;
  for (int row = 0; row != 3; ++row)
    for (int column = 0; column != 4; ++column) result(row, column) = transform(row, column);
  return result;
}

}  // namespace raylift
