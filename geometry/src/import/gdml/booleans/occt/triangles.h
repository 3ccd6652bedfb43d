// SPDX-License-Identifier: Apache-2.0
// The triangles of a meshed shape as one surface. Only for the sources of this folder.
#pragma once

#include <TopoDS_Shape.hxx>

#include "import/gdml/shapes/solid.h"

namespace raylift::gdml::occt {

/// The triangles of its solids, or of all faces where it has none. Faces share the vertices along the edges that they
/// share; positions are never compared. A face that the library could not mesh is left out. Throws Failure where faces
/// don't fit together.
[[nodiscard]] Surface triangles(const TopoDS_Shape& shape);

}  // namespace raylift::gdml::occt
