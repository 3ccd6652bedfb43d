// SPDX-License-Identifier: Apache-2.0
// How finely B-reps of Open CASCADE are cut into triangles, whose vertices lie on the true surface.
#pragma once

#include <raylift/geometry/import/fineness.h>

#include <functional>

#include "import/gdml/booleans/occt/operation.h"
#include "import/gdml/shapes/solid.h"

namespace raylift::gdml {

struct Cut {
  occt::Meshing meshing;
  bool refine = false;  ///< until volume and area are right to 1e-3
};

/// For a solid of that size; smallest: that of its features, or 0 where it is not known. A chord or steps that are
/// stated hold alone, but no chord is below 1e-6 of the size, and no turn has more than 2048 facets.
[[nodiscard]] Cut cut_of(double size, double smallest, const Fineness& fineness);

struct Refined {
  Surface surface;
  occt::Meshing meshing;  ///< that it was made with
};
/// The surface that mesh() gives; refined, where `cut` wants that, until it has the volume and the area of the B-rep,
/// or until this does not help.
[[nodiscard]] Refined refined(const std::function<Surface(const occt::Meshing&)>& mesh, const Cut& cut, double volume,
                              double area);

}  // namespace raylift::gdml
