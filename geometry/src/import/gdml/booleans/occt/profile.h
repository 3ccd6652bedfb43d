// SPDX-License-Identifier: Apache-2.0
// A closed curve in the half plane of r and z, turned about z into a solid.
#pragma once

#include <TopoDS_Edge.hxx>
#include <TopoDS_Shape.hxx>
#include <vector>

#include "import/gdml/shapes/solid.h"

namespace raylift::gdml::occt {

class Profile {
 public:
  explicit Profile(RzPoint start);

  /// Lines of no length are left out.
  Profile& line(RzPoint to);
  /// An arc about a point of the axis.
  Profile& arc(RzPoint centre, RzPoint through, RzPoint to);
  /// A conic that leaves towards `pole` and comes from there; weight 1: a parabola, above: a hyperbola.
  Profile& conic(RzPoint pole, double weight, RzPoint to);

  /// Closed by a line, and turned. Throws Failure.
  [[nodiscard]] TopoDS_Shape revolved(const Turn& phi) const;

 private:
  RzPoint start_, at_;
  std::vector<TopoDS_Edge> edges_;
};

/// A ring about the axis.
[[nodiscard]] TopoDS_Shape ring(double rtor, double rmin, double rmax, const Turn& phi);

}  // namespace raylift::gdml::occt
