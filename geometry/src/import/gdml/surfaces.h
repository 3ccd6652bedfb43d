// SPDX-License-Identifier: Apache-2.0
// The meshes of solids.
#pragma once

#include <raylift/geometry/import/load.h>

#include <cstdint>
#include <span>
#include <string>

#include "import/document.h"
#include "solid.h"

namespace raylift::gdml {

/// The surface of a solid, which may be made of those before it. `file` is for messages. Throws Error: malformed,
/// unsupported, limit; its element names the solid.
[[nodiscard]] Surface surface_of(std::span<const Solid> solids, std::uint32_t index, const Fineness& fineness,
                                 const std::string& file);

/// The same as a geometry of one primitive. `rests`: with what the floats lack.
[[nodiscard]] imported::Geometry geometry_of(const Surface& surface, const Solid& solid, bool rests);

}  // namespace raylift::gdml
