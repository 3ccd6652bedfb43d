// SPDX-License-Identifier: Apache-2.0
// The COLLADA preflight: reads structure, units, materials and the node tree of a document, checks every reference,
// accessor and index, and hands Assimp nothing but the geometries that are used.
#pragma once

#include <cstdint>
#include <raylift/geometry/load.h>
#include <raylift/geometry/progress.h>
#include <raylift/geometry/scene.h>
#include <string>
#include <vector>

namespace raylift::collada {

/// A primitive element (<triangles>, <polylist>, ...) of a geometry that yields faces, in document order.
struct Primitive {
  std::string element;      ///< "triangles"
  std::string symbol;       ///< the material symbol that an instance binds
  std::uint64_t faces = 0;  ///< as Assimp reads them, before triangulation; never 0
  bool surface = true;      ///< false for <lines> and <linestrips>
};

/// A <geometry> that some instance uses. It is mesh number `index in Document::geometries` of the scene.
struct Geometry {
  std::string id;
  std::string name;
  std::vector<Primitive> primitives;
};

/// All that a COLLADA document says, but for the meshes' vertices and triangles.
struct Document {
  /// Everything but the contents of the meshes: `scene.meshes[i]` has a name only. Bindings hold one material for each
  /// surface primitive of their geometry.
  Scene scene;
  std::vector<Geometry> geometries;
  /// A COLLADA document for Assimp: the geometry libraries as they stand in the file, and one visual scene with a child
  /// node for each of `geometries`, in their order, with the id "g<index>", no transform, unit 1 and Y up.
  std::string geometry_text;
};

/// Throws Error: malformed, unsupported or limit, with the element. `text` is the whole document, in any encoding that
/// XML allows; `file` names it in errors. Never recurses deeper than a fixed bound, whatever the document.
[[nodiscard]] Document preflight(std::string text, const std::string& file, const LoadOptions& options,
                                 const Progress& progress);

}  // namespace raylift::collada
