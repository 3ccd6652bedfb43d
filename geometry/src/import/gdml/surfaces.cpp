// SPDX-License-Identifier: Apache-2.0
#include "surfaces.h"

#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>
#include <Eigen/Eigenvalues>

#include <string>
#include <utility>
#include <variant>

#include "import/gdml/booleans/boolean.h"
#include "import/gdml/shapes/tessellate.h"

namespace raylift::gdml {
namespace {

void transform_surface(Surface& surface, const Transform& placed) {
  for (Double3& vertex : surface.vertices) vertex = placed.point(vertex);
  const double most = to_eigen(placed).linear().operatorNorm();
  surface.deviation = {most * surface.deviation.outward, most * surface.deviation.inward};
  if (to_eigen(placed).linear().determinant() < 0)
    for (UInt3& triangle : surface.triangles) std::swap(triangle.y, triangle.z);
}

}  // namespace

Surface surface_of(std::span<const Solid> solids, std::uint32_t index, const Fineness& fineness,
                   const std::string& file, double seconds) {
  // Transformed solids may stand on one another; their transforms are applied from the innermost on.
  std::vector<const Transform*> outer;
  std::uint32_t inner = index;
  while (const auto* const transformed = std::get_if<Transformed>(&solids[inner].shape)) {
    outer.push_back(&transformed->of.placed);
    inner = transformed->of.solid;
  }
  const Shape& shape = solids[inner].shape;
  const bool boolean = std::holds_alternative<Boolean>(shape) || std::holds_alternative<MultiUnion>(shape);
  Surface surface = boolean ? tessellate_boolean(solids, inner, fineness, file, seconds) : tessellate(shape, fineness);
  for (auto placed = outer.rbegin(); placed != outer.rend(); ++placed) transform_surface(surface, **placed);
  if (surface.triangles.empty())
    throw Error(ErrorKind::malformed, "the solid is empty",
                {file, solids[index].kind + " '" + solids[index].name + "'"});
  return surface;
}

imported::Geometry geometry_of(const Surface& surface, std::string name, bool rests) {
  imported::Geometry geometry;
  geometry.id = std::move(name);
  geometry.deviation = surface.deviation;
  imported::Positions& positions = geometry.positions;
  positions.count = surface.vertices.size();
  positions.numbers.reserve(3 * surface.vertices.size());
  const auto append = [&](double value) {
    const auto rounded = static_cast<float>(value);
    positions.numbers.push_back(rounded);
    if (rests) positions.rests.push_back(static_cast<float>(value - static_cast<double>(rounded)));
  };
  for (const Double3& vertex : surface.vertices)
    for (int axis = 0; axis != 3; ++axis) append(vertex[axis]);
  imported::Primitive& triangles = geometry.primitives.emplace_back();
  triangles.corners.reserve(3 * surface.triangles.size());
  for (const UInt3& triangle : surface.triangles)
    triangles.corners.insert(triangles.corners.end(), {triangle.x, triangle.y, triangle.z});
  return geometry;
}

}  // namespace raylift::gdml
