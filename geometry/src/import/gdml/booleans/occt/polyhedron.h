// SPDX-License-Identifier: Apache-2.0
// Solids between flat or bilinear faces, whose edges are shared from the beginning on.
#pragma once

#include <TopoDS_Shape.hxx>
#include <cstdint>
#include <vector>

#include "import/gdml/shapes/solid.h"

namespace raylift::gdml::occt {

/// Faces as loops of vertices, each anticlockwise from outside or all of them clockwise. A vertex may repeat in a loop,
/// and vertices at the same place are one. A face of four corners that is not flat becomes a bilinear patch.
struct Polyhedron {
  std::vector<Double3> vertices;
  std::vector<std::vector<std::uint32_t>> faces;
};

/// Throws Failure.
[[nodiscard]] TopoDS_Shape brep(const Polyhedron& polyhedron);

}  // namespace raylift::gdml::occt
