// SPDX-License-Identifier: Apache-2.0
// Booleans of GDML as a tree of operations on many operands, with the placements moved down to the primitives.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "import/gdml/shapes/solid.h"

namespace raylift::gdml {

/// Whether the boxes come nearer to each other than `margin`.
[[nodiscard]] bool meet(const Bounds& a, const Bounds& b, double margin);
[[nodiscard]] inline double diagonal(const Bounds& box) {
  const Double3 size = box.size();
  return std::hypot(size.x, size.y, size.z);
}

enum class CsgKind : std::uint8_t { primitive, add, subtract, intersect };

struct CsgNode {
  CsgKind kind = CsgKind::primitive;
  std::vector<std::uint32_t> children;  ///< subtract: the body, then what is taken away from it
  std::uint32_t solid = 0;              ///< a primitive's index among the file's solids
  const Shape* shape = nullptr;
  Transform placed;   ///< of a primitive, in the frame of the whole
  Transform inverse;  ///< its inverse
  Bounds bounds;
  Bounds own;  ///< of a primitive, in its own frame
};

/// Children stand before their parents. Pointers lead into the solids that the tree was made of.
struct Csg {
  std::vector<CsgNode> nodes;
  std::uint32_t root = 0;
};

/// What a tree may be; no real file comes near.
struct CsgLimits {
  std::uint32_t depth = 1000;
  std::uint32_t primitives = 20'000;
};

/// The tree of the solid at `index`. (A - b) - c becomes A - {b, c}, and sums and intersections are gathered likewise.
/// Throws Error(limit) beyond the limits, and Error(malformed) for a placement without an inverse.
[[nodiscard]] Csg flatten(std::span<const Solid> solids, std::uint32_t index, const std::string& file,
                          const CsgLimits& limits = {});

/// Whether a point lies in the tree's solid, by the primitives' own inequalities.
[[nodiscard]] bool inside(const Csg& csg, const Double3& point);

/// Leaves out what cannot matter: subtracted operands that lie apart from the body.
void prune(Csg& csg);

/// The nodes below the root that are primitives and matter.
[[nodiscard]] std::vector<std::uint32_t> primitives(const Csg& csg);

[[nodiscard]] inline Transform operator*(const Transform& a, const Transform& b) {
  Transform product;
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 4; ++column) {
      double sum = column == 3 ? a(row, 3) : 0;
      for (int i = 0; i < 3; ++i) sum += a(row, i) * b(i, column);
      product(row, column) = sum;
    }
  return product;
}
[[nodiscard]] inline double determinant(const Transform& t) {
  return t(0, 0) * (t(1, 1) * t(2, 2) - t(1, 2) * t(2, 1)) - t(0, 1) * (t(1, 0) * t(2, 2) - t(1, 2) * t(2, 0)) +
         t(0, 2) * (t(1, 0) * t(2, 1) - t(1, 1) * t(2, 0));
}

}  // namespace raylift::gdml
