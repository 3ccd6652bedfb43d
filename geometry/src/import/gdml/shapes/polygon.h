// SPDX-License-Identifier: Apache-2.0
// Plane polygons, as the ends of solids have them: their area, their faults, and their triangles.
#pragma once

#include <cstdint>
#include <vector>

#include "solid.h"

namespace raylift::gdml {

/// A closed polygon; the first point is not repeated at the end.
using Polygon = std::vector<Point2>;

/// Positive where the polygon turns counterclockwise.
[[nodiscard]] double signed_area(const Polygon& polygon);

/// The polygon without points that repeat their neighbour, or lie on the line through both neighbours.
[[nodiscard]] Polygon without_flat_corners(const Polygon& polygon);

/// Whether two sides that are no neighbours cross, or meet in a point where that counts. In time of the square of the
/// corners.
enum class Touching : std::uint8_t { allowed, counts };
[[nodiscard]] bool crosses_itself(const Polygon& polygon, Touching touching);

/// The triangles of a counterclockwise polygon that doesn't cross itself, counterclockwise too: ear clipping. All
/// corners are used, those on straight sides too, and no triangle has an area of zero.
[[nodiscard]] std::vector<UInt3> triangulate_polygon(const Polygon& polygon);

}  // namespace raylift::gdml
