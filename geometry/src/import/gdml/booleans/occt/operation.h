// SPDX-License-Identifier: Apache-2.0
// Operations on solids by Open CASCADE. No header of that library is included here, so that all else builds without it.
#pragma once

#include <chrono>
#include <stdexcept>

#include "import/gdml/booleans/csg.h"
#include "import/gdml/shapes/solid.h"

namespace raylift::gdml::occt {

/// The library made nothing of it; what() is the reason.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// It takes longer than it may.
class OutOfTime : public Failure {
 public:
  using Failure::Failure;
};

/// How finely a shape is cut into triangles.
struct Meshing {
  double deflection = 0;  ///< the distance from the surface, mm
  double angle = 0.5;     ///< the turn of the normal over an edge, rad
};

struct Options {
  double fuzzy = 0;  ///< points and curves nearer to each other count as one, mm
  double chord = 0;  ///< twisted operands become facets, which lie this near to them
  double seam = 0;   ///< where surfaces about an axis meet themselves, rad: intersections along it often fail
  double grow = 0;   ///< by how much all operands but first ones are larger, so that none only touches another, mm
  bool one_by_one =
      false;  ///< an operation on many operands as many on two: slower, and sometimes right where one is not
  std::chrono::steady_clock::time_point end = std::chrono::steady_clock::time_point::max();  ///< of the time for it
};

/// A tree of operations, computed with boundaries that are surfaces and curves.
/// The facets of a twisted solid, as near to it as the chord says.
using Facets = Surface (*)(const Shape& shape, double chord);

/// A boolean as a B-rep.
class Operation {
 public:
  virtual ~Operation() = default;

  [[nodiscard]] virtual double volume() const = 0;  ///< mm3
  [[nodiscard]] virtual double area() const = 0;    ///< mm2
  /// Triangles that share vertices along the edges of the shape. They may be no closed surface. Throws Failure.
  [[nodiscard]] virtual Surface mesh(const Meshing& meshing) = 0;
};

/// The one function of the module. The tree must outlive the operation. Throws Failure.
using MakeOperation = Operation* (*)(const Csg& csg, const Options& options, Facets facets);
/// Its name, with the number of this interface.
inline constexpr const char* kMakeOperation = "raylift_occt_3";

}  // namespace raylift::gdml::occt
