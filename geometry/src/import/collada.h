// SPDX-License-Identifier: Apache-2.0
// The COLLADA preflight. It reads structure, units, materials and the node tree of a document itself, checks every
// reference, accessor and index, and leaves to Assimp what Assimp is good at: reading numbers and cutting polygons.
#pragma once

#include <raylift/geometry/import/load.h>
#include <raylift/geometry/progress.h>
#include <raylift/geometry/scene/scene.h>
#include <cstdint>
#include <string>
#include <vector>

namespace raylift::inline v0_1::collada {

/// A primitive element (<triangles>, <polylist>, ...) that holds surfaces. It becomes one part of the geometry's mesh.
struct Primitive {
  std::string symbol;       ///< the material symbol that an instance binds
  std::uint64_t faces = 0;  ///< polygons, before they are cut into triangles; never 0
  bool triangles = true;    ///< all polygons are triangles
};

/// A <geometry> that some instance uses: mesh number `index in Document::geometries` of the scene.
struct Geometry {
  std::string id;
  std::vector<Primitive> primitives;
};

/// All that a COLLADA document says, but for the meshes' vertices and triangles.
struct Document {
  /// Everything but the contents of the meshes: `scene.meshes[i]` has a name only. A binding holds a material for each
  /// primitive of its geometry.
  Scene scene;
  std::vector<Geometry> geometries;
  /// A COLLADA document for Assimp, written anew around the original texts of the numbers: positions and <triangles> or
  /// <polylist> only, all ids our own, and one node without a transform per geometry, named "g0", "g1", ...
  std::string geometry_text;
  bool needs_triangulation = false;
};

/// `text` is the whole document, in any encoding that XML allows; `file` names it in errors, and `entry` is its path in
/// an archive. By both it may refer to itself, and to other documents. Throws Error: malformed, unsupported, limit or
/// io, with the element. Does not recurse, whatever the document's depth.
[[nodiscard]] Document preflight(std::string text, const std::string& file, const LoadOptions& options,
                                 const Progress& progress, const std::string& entry = {});

}  // namespace raylift::inline v0_1::collada
