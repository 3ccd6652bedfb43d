// SPDX-License-Identifier: Apache-2.0
// Polygons of COLLADA, which Assimp triangulates.
#pragma once

#include <assimp/scene.h>
#include <raylift/geometry/import/load.h>

#include <memory>
#include <string>
#include <vector>

#include "document.h"

namespace raylift {

/// Polygons of a document that Assimp has triangulated.
struct TriangulatedPolygons {
  std::vector<std::unique_ptr<aiScene>> scenes;
  std::vector<std::vector<aiMesh*>> meshes;  // by geometry and primitive; null where all were triangles
};

/// Triangulates the polygons of all geometries, in parallel. `file` names the document in errors. Throws Error:
/// malformed, out_of_host_memory; limit where large polygons would take as long as more than ten that are as large as
/// LoadLimits::polygon_vertices allows.
[[nodiscard]] TriangulatedPolygons triangulate(const std::vector<imported::Geometry>& geometries,
                                               const std::string& file, const LoadLimits& limits);

}  // namespace raylift
