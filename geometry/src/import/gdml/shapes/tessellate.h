// SPDX-License-Identifier: Apache-2.0
// The surfaces of GDML's primitive solids as triangles.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "polygon.h"
#include "solid.h"

namespace raylift::gdml {

/// The closed surface of a primitive: each edge is used twice, in opposite directions. Its dimensions are those that
/// SolidReader accepts. Throws std::logic_error for booleans, unions of many and transformed solids.
[[nodiscard]] Surface tessellate(const Shape& shape, const Fineness& fineness);

/// A trapezoid's corners from -z / 2 on: four below, four above, counterclockwise.
[[nodiscard]] std::array<Point2, 8> corners_of(const Trap& trap);

/// Outlines in x = r and y = z.
[[nodiscard]] Polygon profile_of(const std::vector<ZPlane>& planes);
[[nodiscard]] Polygon profile_of(const std::vector<RzPoint>& corners);

/// The section of an arb8 at `i` of `n` parts of its height.
[[nodiscard]] std::array<Point2, 4> section_of(const Arb8& arb8, std::uint32_t i, std::uint32_t n);

// The twisted ones, and arb8, whose sides may be warped.
[[nodiscard]] Surface tessellate_warped(const Arb8& arb8, const Fineness& fineness);
[[nodiscard]] Surface tessellate_warped(const TwistedTrap& trap, const Fineness& fineness);
[[nodiscard]] Surface tessellate_warped(const TwistedTube& tube, const Fineness& fineness);

}  // namespace raylift::gdml
