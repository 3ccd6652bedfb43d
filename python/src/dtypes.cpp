// SPDX-License-Identifier: Apache-2.0
// The layouts of raylift's structs as NumPy's dtypes, without gaps: fields in the order of the C++ struct.
#include <raylift/geometry/bvh/ray.h>
#include <raylift/gpu/view.h>
#include <raylift/photon/results.h>

#include "geometry.h"

namespace raylift::python {
namespace {

/// From Python's own notation: "[('t', '<f4'), ...]".
py::dtype record(const char* fields, std::size_t bytes) {
  const py::dtype type = py::dtype::from_args(py::module_::import("ast").attr("literal_eval")(fields));
  if (static_cast<std::size_t>(type.itemsize()) != bytes) throw std::logic_error("a dtype is not that of its struct");
  return type;
}

constexpr const char* kCurve = "[('first', '<u4'), ('count', '<u4')]";
const std::string kEmission = std::string("[('spectrum', ") + kCurve +
                              "), ('over_energy', '<u4'), ('amount', '<f4'), ('time_constant', '<f4'), "
                              "('rise_time', '<f4'), ('reserved', '<u4', (2,))]";

py::dtype material_optics() {
  const std::string fields =
      "[('flags', '<u4'), ('losses', '<u4'), ('covered', '<f4', (2,)), ('mie_forward', '<f4'), "
      "('mie_backward', '<f4'), ('mie_forward_ratio', '<f4'), ('scintillation_yield', '<f4'), "
      "('resolution_scale', '<f4'), ('reserved', '<u4', (3,)), ('scintillation', " +
      kEmission + ", (3,)), ('shifting', " + kEmission + ", (2,)), ('covered_by', '<f4', (8, 2))]";
  return record(fields.c_str(), sizeof(MaterialOptics));
}

py::dtype surface_optics() {
  const std::string fields =
      "[('model', '|u1'), ('finish', '|u1'), ('type', '|u1'), ('flags', '|u1'), ('value', '<f4'), "
      "('table', '<u4'), ('rows', '<u4'), ('film_thickness', '<f4'), ('roughness', '<f4'), ('angles', " +
      std::string(kCurve) + "), ('reserved', '<u4', (4,)), ('reemission', " + kEmission + ")]";
  return record(fields.c_str(), sizeof(SurfaceOptics));
}

}  // namespace

py::dtype ray_dtype() {
  return record("[('origin', '<f4', (3,)), ('tmin', '<f4'), ('direction', '<f4', (3,)), ('tmax', '<f4')]", sizeof(Ray));
}

py::dtype hit_dtype() {
  return record("[('t', '<f4'), ('triangle', '<u4'), ('uv', '<f4', (2,)), ('normal', '<f4', (3,)), ('site', '<u4')]",
                sizeof(Hit));
}

py::dtype photon_dtype() {
  return record(
      "[('position', '<f4', (3,)), ('time', '<f4'), ('direction', '<f4', (3,)), ('solid', '<u4'), "
      "('polarization', '<f4', (3,)), ('wavelength', '<f4'), ('flag', '<u2'), ('surface', '<u2'), ('sensor', '<u4'), "
      "('number', '<u4'), ('flags', '<u4')]",
      sizeof(photon::PhotonRow));
}

// A case for each array.
py::dtype dtype_of(ViewArray array) {
  using A = ViewArray;
  switch (array) {
    case A::nodes:
      return record(
          "[('origin', '<f4', (3,)), ('exponent', '|u1', (3,)), ('spare', '|u1'), ('first_child', '<u4'), "
          "('first_pair', '<u4'), ('pairs', '<u4'), ('inner', '<u4'), ('lower', '|u1', (3, 8)), ('upper', '|u1', (3, "
          "8))]",
          sizeof(bvh_detail::BvhNode));
    case A::pairs:
      return py::dtype("(4,3)<f4");
    case A::pair_ids:
      return py::dtype("(2,)<u4");
    case A::triangles:
      return py::dtype("(3,)<u4");
    case A::vertices:
    case A::vertex_rests:
      return py::dtype("(3,)<f4");
    case A::frames:
      return py::dtype("(3,4)<f8");
    case A::meshes:
      return record(
          "[('first_vertex', '<u4'), ('vertex_count', '<u4'), ('first_triangle', '<u4'), ('triangle_count', '<u4')]",
          sizeof(MeshView));
    case A::instances:
      return record(
          "[('to_world', '<f4', (3, 4)), ('to_mesh', '<f4', (3, 4)), ('mesh', '<u4'), ('solid_id', '<u4'), "
          "('first_material', '<u4'), ('outside', '<u2'), ('mirrored', '<u2')]",
          sizeof(InstanceView));
    case A::triangle_parts:
    case A::part_materials:
      return py::dtype("<u2");
    case A::material_codes:
      return record("[('inside', '<u2'), ('outside', '<u2')]", sizeof(MaterialCode));
    case A::material_colors:
    case A::solid_ids:
    case A::colors:
    case A::daughters:
    case A::solid_colors:
      return py::dtype("<u4");
    case A::solids:
      return record(
          "[('mother', '<u4'), ('depth', '<u4'), ('first_daughter', '<u4'), ('daughter_count', '<u4'), "
          "('material', '<u2'), ('parts', '<u2'), ('surface_in', '<u2'), ('surface_out', '<u2'), ('skin', '<u2'), "
          "('reserved', '<u2'), ('volume', '<u4')]",
          sizeof(SolidView));
    case A::optical_rows:
      return record(
          "[('wavelength', '<f4'), ('rest', '<f4'), ('slope', '<f4'), ('over_wavelength', '<u4'), ('v', '<f4', (4,))]",
          sizeof(OpticsView::TableRow));
    case A::optical_buckets:
      return py::dtype("<u4");
    case A::optical_materials:
      return material_optics();
    case A::optical_surfaces:
      return surface_optics();
    case A::optical_points:
      return py::dtype("(2,)<f4");
    case A::border_surfaces:
      return py::dtype("(2,4)<u4");
    case A::channels:
      return record("[('number', '<i4'), ('type', '<u4')]", sizeof(OpticsView::Channel));
    case A::channel_types:
      return record(
          "[('efficiency', '<u4'), ('reserved', '<u4'), ('angle_efficiency', '<u4', (2,)), ('time', '<u4', (2,)), "
          "('charge', '<u4', (2,))]",
          sizeof(OpticsView::ChannelType));
  }
  throw std::logic_error("an array without a dtype");
}

}  // namespace raylift::python
