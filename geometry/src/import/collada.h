// SPDX-License-Identifier: Apache-2.0
// The COLLADA preflight. It reads structure, units, materials, the node tree and all numbers of a document, each once,
// checks every reference, accessor and index, and leaves the triangulation of polygons to Assimp.
#pragma once

#include <raylift/geometry/import/load.h>
#include <raylift/geometry/progress.h>
#include <raylift/geometry/scene/scene.h>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace raylift::collada {

/// The positions of a geometry: the numbers of an array that its accessor selects.
struct Positions {
  std::vector<float> numbers;
  std::uint64_t count = 0;                 ///< points
  std::uint64_t offset = 0;                ///< numbers before the first one
  std::uint64_t stride = 3;                ///< numbers of a point
  std::array<std::size_t, 3> at{0, 1, 2};  ///< which of them are X, Y and Z

  [[nodiscard]] Float3 operator[](std::size_t point) const {
    const float* const first = numbers.data() + offset + point * stride;
    return {first[at[0]], first[at[1]], first[at[2]]};
  }
};

/// A primitive element (<triangles>, <polylist>, ...) that holds surfaces. It becomes one part of the geometry's mesh.
struct Primitive {
  std::vector<std::uint32_t> corners;  ///< a position for each corner of each polygon, in order, in range; never empty
  std::vector<std::uint32_t> sizes;    ///< corners of each polygon; none where all are triangles
};

/// A <geometry> that some instance uses: mesh number `index in Document::geometries` of the scene.
struct Geometry {
  std::string id;
  std::vector<std::string> symbols;  ///< of the materials that an instance binds to the primitives
  Positions positions;
  std::vector<Primitive> primitives;
};

/// A COLLADA document.
struct Document {
  /// Everything but the contents of the meshes: `scene.meshes[i]` has a name only. A binding holds a material for each
  /// primitive of its geometry.
  Scene scene;
  std::vector<Geometry> geometries;
};

/// `text` is the whole document, in any encoding that XML allows; `file` names it in errors, and `entry` is its path in
/// an archive. By both it may refer to itself, and to other documents. Throws Error: malformed, unsupported, limit or
/// io, with the element. Does not recurse, whatever the document's depth.
[[nodiscard]] Document preflight(std::string text, const std::string& file, const LoadOptions& options,
                                 const Progress& progress, const std::string& entry = {});

}  // namespace raylift::collada
