// SPDX-License-Identifier: Apache-2.0
// What raylift's own readers make of a file: a scene whose meshes are polygons still.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace raylift::imported {

/// The positions of a geometry: the numbers of an array that its accessor selects.
struct Positions {
  std::vector<float> numbers;
  std::vector<float> rests;                ///< what the numbers lack to the file's; none where they are not asked for
  std::uint64_t count = 0;                 ///< points
  std::uint64_t offset = 0;                ///< numbers before the first one
  std::uint64_t stride = 3;                ///< numbers of a point
  std::array<std::size_t, 3> at{0, 1, 2};  ///< which of them are X, Y and Z

  [[nodiscard]] Float3 operator[](std::size_t point) const {
    const float* const first = numbers.data() + offset + point * stride;
    return {first[at[0]], first[at[1]], first[at[2]]};
  }
  [[nodiscard]] Float3 rest(std::size_t point) const {
    const float* const first = rests.data() + offset + point * stride;
    return {first[at[0]], first[at[1]], first[at[2]]};
  }
};

/// Polygons of one material: COLLADA's <triangles>, <polylist>, ... They become one part of the geometry's mesh.
struct Primitive {
  std::vector<std::uint32_t> corners;  ///< a position for each corner of each polygon, in order, in range; never empty
  std::vector<std::uint32_t> sizes;    ///< corners of each polygon; none where all are triangles
};

/// A geometry that some instance uses: mesh number `index in Document::geometries` of the scene.
struct Geometry {
  std::string id;
  std::vector<std::string> symbols;  ///< of the materials that an instance of COLLADA binds to the primitives
  Positions positions;
  std::vector<Primitive> primitives;
  Mesh::Deviation deviation;  ///< of the facets from the solid, in the file's unit
};

struct Document {
  /// Everything but the contents of the meshes: `scene.meshes[i]` has a name only. A binding holds a material for each
  /// primitive of its geometry.
  Scene scene;
  std::vector<Geometry> geometries;
  bool all_faces = true;  ///< the geometries are known to have all faces of the file
};

}  // namespace raylift::imported
