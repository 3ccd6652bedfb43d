// SPDX-License-Identifier: Apache-2.0
// Solids between plane ends: prisms, frusta and twisted ones.
#pragma once

#include <vector>

#include "polygon.h"
#include "solid.h"

namespace raylift::gdml {

/// The corners of a section at one z.
struct Ring {
  double z = 0;
  Polygon corners;
};

/// The surface through rings of equally many corners, z ascending, all counterclockwise or all clockwise. Corners may
/// coincide. Where sides are `warped`, their diagonals alternate, so that neither volume nor shape leans to one of
/// them.
[[nodiscard]] Surface loft(std::vector<Ring> rings, bool warped = false);

/// The point at `i` of `n` parts from a to b; from b to a it is the very same at n - i.
[[nodiscard]] Point2 between(const Point2& a, const Point2& b, std::uint32_t i, std::uint32_t n);

}  // namespace raylift::gdml
