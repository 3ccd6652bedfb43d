// SPDX-License-Identifier: Apache-2.0
// Unions, subtractions and intersections of GDML as closed surfaces.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "import/gdml/shapes/solid.h"

namespace raylift::gdml {

/// Whether Open CASCADE can be used. Without it only boxes along the axes are combined.
[[nodiscard]] bool has_booleans();

/// The surface of the solid at `index`, a Boolean, a MultiUnion or a Transformed one; operands may be any solids. It is
/// closed, each edge is one of two triangles, and thousands of points lie on that side of it where the operands'
/// inequalities have them. Its vertices lie on the true surface whatever `fineness.fit` is, but close enough that
/// volume and area are right to 1e-3 unless `fineness` states a chord or steps. Throws Error: malformed where nothing
/// is left, limit for too many operands and where it takes longer than `seconds`, and unsupported where no surface
/// passes these checks; each names the solid and its operands.
[[nodiscard]] Surface tessellate_boolean(std::span<const Solid> solids, std::uint32_t index, const Fineness& fineness,
                                         const std::string& file, double seconds = 1e6);

}  // namespace raylift::gdml
