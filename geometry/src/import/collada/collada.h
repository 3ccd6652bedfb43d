// SPDX-License-Identifier: Apache-2.0
// The COLLADA preflight. It reads structure, units, materials, the node tree and all numbers of a document, each once,
// checks every reference, accessor and index, and leaves the triangulation of polygons to Assimp.
#pragma once

#include <raylift/geometry/import/load.h>
#include <raylift/geometry/progress.h>

#include <string>

#include "import/document.h"

namespace raylift::collada {

using imported::Document;
using imported::Geometry;
using imported::Positions;
using imported::Primitive;

/// `text` is the whole document, in any encoding that XML allows; `file` names it in errors, and `entry` is its path in
/// an archive. By both it may refer to itself, and to other documents. Throws Error: malformed, unsupported, limit or
/// io, with the element. Does not recurse, whatever the document's depth.
[[nodiscard]] Document preflight(std::string text, const std::string& file, const LoadOptions& options,
                                 const Progress& progress, const std::string& entry = {});

}  // namespace raylift::collada
