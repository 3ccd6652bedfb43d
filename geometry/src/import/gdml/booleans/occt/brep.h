// SPDX-License-Identifier: Apache-2.0
// Primitives of GDML as solids of Open CASCADE. Only for the sources of this folder.
#pragma once

#include <TopoDS_Shape.hxx>

#include "import/gdml/shapes/solid.h"
#include "operation.h"

namespace raylift::gdml::occt {

/// The solid in its own frame; a twisted one by flat facets that lie within `chord` of it. Throws Failure, or what the
/// library throws, for sizes that make no solid.
[[nodiscard]] TopoDS_Shape brep(const Shape& primitive, double chord, Facets facets);

/// The same by flat faces.
[[nodiscard]] TopoDS_Shape brep(const Surface& surface);

/// Placed anywhere: turned, mirrored, stretched.
[[nodiscard]] TopoDS_Shape placed(const TopoDS_Shape& shape, const Transform& placement);

}  // namespace raylift::gdml::occt
