// SPDX-License-Identifier: Apache-2.0
// Uploaded geometry as Python holds it.
#pragma once

#include <raylift/gpu/upload/gpu_geometry.h>

#include <memory>

#include "array.h"
#include "scene.h"

namespace raylift::python {

/// Geometry, and the scene that it was made of.
struct GeometryBox {
  GpuGeometry geometry;
  ScenePointer scene;
  Stream stream;  ///< of calls whose caller names none
};
using GeometryPointer = std::shared_ptr<GeometryBox>;

/// The type of an array's elements, as NumPy has it: one number, several, or a record.
[[nodiscard]] py::dtype dtype_of(ViewArray array);
[[nodiscard]] py::dtype ray_dtype();
[[nodiscard]] py::dtype hit_dtype();
[[nodiscard]] py::dtype photon_dtype();

}  // namespace raylift::python
