// SPDX-License-Identifier: Apache-2.0
// Whether a point lies in a primitive, by the primitive's own inequality in double: it shares nothing with what
// tessellates, so it checks that.
#pragma once

#include "csg.h"
#include "import/gdml/shapes/solid.h"

namespace raylift::gdml {

/// Whether a point lies in a primitive. Points of the surface may be on either side. False for booleans.
[[nodiscard]] bool inside(const Shape& primitive, const Double3& point);

/// A box with edges along the axes that the primitive lies in; it may be larger than need be.
[[nodiscard]] Bounds bounds(const Shape& primitive);

/// The smallest length that a primitive is made of: a wall, a radius, a height. Zero lengths don't count.
[[nodiscard]] double smallest_feature(const Shape& primitive);

}  // namespace raylift::gdml
