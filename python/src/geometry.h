// SPDX-License-Identifier: Apache-2.0
// Uploaded geometry as Python holds it.
#pragma once

#include <raylift/gpu/upload/gpu_geometry.h>

#include <memory>

#include "array.h"
#include "scene.h"

namespace raylift::python {

/// Geometry, and its scene.
struct GeometryBox {
  GpuGeometry geometry;
  ScenePointer scene;
  Stream stream;  ///< for calls without `stream=`
};
using GeometryPointer = std::shared_ptr<GeometryBox>;

/// The NumPy type of an array's elements: one number, several, or a record.
[[nodiscard]] py::dtype dtype_of(ViewArray array);
[[nodiscard]] py::dtype ray_dtype();
[[nodiscard]] py::dtype hit_dtype();
[[nodiscard]] py::dtype photon_dtype();

}  // namespace raylift::python
