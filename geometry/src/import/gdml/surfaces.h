// SPDX-License-Identifier: Apache-2.0
// The meshes of solids.
#pragma once

#include <raylift/geometry/import/load.h>

#include <cstdint>
#include <span>
#include <string>

#include "import/document.h"
#include "import/gdml/shapes/solid.h"

namespace raylift::gdml {

/// The surface of a solid, which may be made of those before it. `file` is for messages; seconds: that a boolean may
/// take. Throws Error: malformed, unsupported, limit; its element names the solid.
[[nodiscard]] Surface surface_of(std::span<const Solid> solids, std::uint32_t index, const Fineness& fineness,
                                 const std::string& file, double seconds);

/// The same as a geometry of one primitive, called `name`. `rests`: with what the floats lack.
[[nodiscard]] imported::Geometry geometry_of(const Surface& surface, std::string name, bool rests);

}  // namespace raylift::gdml
