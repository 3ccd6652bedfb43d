// SPDX-License-Identifier: Apache-2.0
// From Assimp's meshes and COLLADA's geometries to ours. This pass is the authority on numbers: nothing that it passes
// is NaN, infinite, out of range or too many.
#pragma once

#include <assimp/mesh.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/scene/scene.h>
#include <span>
#include <string>

#include "document.h"

namespace raylift {

/// Makes one mesh of several, a part each, and frees their contents on the way to keep the peak of memory low.
/// Primitives that are no triangles are left out and counted. Throws Error: malformed or limit, naming mesh and
/// element; with options.repair, drops what is broken and counts it in `report`.
[[nodiscard]] Mesh convert_mesh(std::span<aiMesh* const> parts, std::string name, const std::string& file,
                                const LoadOptions& options, LoadReport& report);

/// Makes one mesh of a geometry, a part for each primitive, and frees their contents. `cut` has what Assimp has
/// made of each primitive's polygons, or null where there are triangles alone. Each corner is a vertex of its own; but
/// where all are welded, those of one position are one from the start, in the order of their first use. Throws as
/// above.
[[nodiscard]] Mesh convert_geometry(imported::Geometry& geometry, std::span<aiMesh* const> cut, std::string name,
                                    const std::string& file, const LoadOptions& options, LoadReport& report);

/// Welds a converted mesh, and counts its degenerate triangles, or drops them where options ask for it.
void finish_mesh(Mesh& mesh, const LoadOptions& options, LoadReport& report);

}  // namespace raylift
