// SPDX-License-Identifier: Apache-2.0
// Scenes from NumPy arrays.
#include <pybind11/stl.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/convert.h>

#include <cmath>

#include "parts.h"
#include "scene.h"
#include "watch.h"

namespace raylift::python {
namespace {

/// What NumPy makes an array of: an array, lists, a Table's column.
py::array array_of(const py::object& given) {
  py::array array = py::array::ensure(given);
  if (!array) throw py::error_already_set();
  return array;
}

/// A NumPy array of (N, 3) numbers, of any type and stride.
Rows rows_of(const py::array& array, const char* what) {
  if (array.ndim() != 2 || array.shape(1) != 3)
    throw Error(ErrorKind::usage, std::string(what) + " must have the shape (N, 3)");
  Rows rows;
  const std::string type = py::str(array.dtype().attr("str")).cast<std::string>();
  using Type = Rows::Type;
  static constexpr std::pair<const char*, Type> kTypes[] = {
      {"<f4", Type::f32}, {"<f8", Type::f64}, {"|i1", Type::i8},  {"|u1", Type::u8},  {"<i2", Type::i16},
      {"<u2", Type::u16}, {"<i4", Type::i32}, {"<u4", Type::u32}, {"<i8", Type::i64}, {"<u8", Type::u64}};
  const auto* const found =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const auto& known) { return type == known.first; });
  if (found == std::end(kTypes)) throw Error(ErrorKind::usage, std::string(what) + " are of type " + type);
  const py::ssize_t item = array.itemsize();
  if (array.strides(0) % item != 0 || array.strides(1) % item != 0)
    throw Error(ErrorKind::usage, std::string(what) + " are not aligned", {}, "copy them first");
  rows.data = array.data();
  rows.type = found->second;
  rows.count = static_cast<std::size_t>(array.shape(0));
  rows.row_stride = array.strides(0) / item;
  rows.column_stride = array.strides(1) / item;
  return rows;
}

/// Parts from a number for each triangle. Sorts the triangles, since those of a part must be contiguous.
void take_parts(Mesh& mesh, const py::array_t<std::int64_t, py::array::forcecast>& part_of) {
  const auto part = part_of.unchecked<1>();
  const std::size_t triangles = mesh.triangles.size();
  if (static_cast<std::size_t>(part.shape(0)) != triangles)
    throw Error(ErrorKind::usage, "parts must have a number for each triangle");
  std::int64_t most = 0;
  for (std::size_t i = 0; i != triangles; ++i) {
    const std::int64_t here = part(static_cast<py::ssize_t>(i));
    const std::int64_t before = i == 0 ? 0 : part(static_cast<py::ssize_t>(i - 1));
    if (here < before || here > before + 1 || (i == 0 && here != 0))
      throw Error(ErrorKind::usage, "parts must ascend from 0 by steps of 1, at triangle " + std::to_string(i), {},
                  "sort the triangles by their part");
    most = here;
  }
  mesh.parts.assign(static_cast<std::size_t>(most + 1), {});
  for (std::size_t i = triangles; i-- != 0;) {
    Mesh::Part& of = mesh.parts[static_cast<std::size_t>(part(static_cast<py::ssize_t>(i)))];
    of.first_triangle = static_cast<std::uint32_t>(i);
    ++of.triangle_count;
  }
}

using Parts = std::optional<py::array_t<std::int64_t, py::array::forcecast>>;

/// `store` writes the vertices into the mesh, without the GIL.
template <class Store>
std::uint32_t add_mesh_by(SceneBox& box, const py::object& vertices, const py::object& triangles,
                          const std::string& name, const Parts& parts, const Store& store) {
  Mesh mesh;
  mesh.name = name;
  const py::array kept_vertices = array_of(vertices), kept_triangles = array_of(triangles);
  const Rows points = rows_of(kept_vertices, "vertices"), corners = rows_of(kept_triangles, "triangles");
  if (points.count >= kNone || corners.count >= kNone)
    throw Error(ErrorKind::limit, "a mesh has up to 2^32 - 2 triangles and vertices");
  mesh.vertices.resize(points.count);
  mesh.triangles.resize(corners.count);
  without_gil([&] {
    store(points, mesh.vertices);
    to_uint3(corners, mesh.triangles);
    return 0;
  });
  for (std::size_t i = 0; i != mesh.triangles.size(); ++i) {
    const UInt3& corner = mesh.triangles[i];
    if (std::max({corner.x, corner.y, corner.z}) >= mesh.vertices.size())
      throw Error(ErrorKind::malformed, "an index is out of range",
                  {box.scene.source, "mesh '" + name + "', triangle " + std::to_string(i)});
  }
  mesh.parts = {{0, static_cast<std::uint32_t>(mesh.triangles.size())}};
  if (parts && !mesh.triangles.empty()) take_parts(mesh, *parts);
  box.change().meshes.push_back(std::move(mesh));
  return static_cast<std::uint32_t>(box.scene.meshes.size() - 1);
}

std::uint32_t add_mesh(SceneBox& box, const py::object& vertices, const py::object& triangles, const std::string& name,
                       const Parts& parts) {
  return add_mesh_by(box, vertices, triangles, name, parts,
                     [](const Rows& points, std::span<Float3> stored) { to_float3(points, stored); });
}

py::tuple add_centered_mesh(SceneBox& box, const py::object& vertices, const py::object& triangles,
                            const std::string& name, const Parts& parts) {
  Double3 middle;
  const std::uint32_t mesh =
      add_mesh_by(box, vertices, triangles, name, parts,
                  [&](const Rows& points, std::span<Float3> stored) { middle = to_centered_float3(points, stored); });
  py::array_t<double> transform({3, 4});
  for (int row = 0; row != 3; ++row)
    for (int column = 0; column != 3; ++column) transform.mutable_at(row, column) = row == column ? 1 : 0;
  transform.mutable_at(0, 3) = middle.x;
  transform.mutable_at(1, 3) = middle.y;
  transform.mutable_at(2, 3) = middle.z;
  return py::make_tuple(mesh, transform);
}

std::uint32_t add_material(SceneBox& box, const std::string& name, const std::array<float, 4>& color) {
  Scene& scene = box.change();
  for (const Material& material : scene.materials)
    if (material.name == name) throw Error(ErrorKind::usage, "there is a material '" + name + "' already");
  scene.materials.push_back({name, color});
  if (!scene.optics.materials.empty()) scene.optics.materials.emplace_back();
  return static_cast<std::uint32_t>(scene.materials.size() - 1);
}

/// A material by its name or index; kNone for None.
std::uint32_t material_of(const Scene& scene, const py::handle& given) {
  if (given.is_none()) return kNone;
  if (py::isinstance<py::int_>(given)) return index_in(scene.materials.size(), given.cast<py::ssize_t>(), "material");
  const auto name = given.cast<std::string>();
  for (std::size_t i = 0; i != scene.materials.size(); ++i)
    if (scene.materials[i].name == name) return static_cast<std::uint32_t>(i);
  throw Error(ErrorKind::usage, "there is no material '" + name + "'", {scene.source, ""}, "call add_material() first");
}

Transform transform_of(const py::object& given) {
  Transform transform;
  if (given.is_none()) return transform;
  const auto matrix = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(given);
  if (!matrix) throw py::error_already_set();
  const bool shaped = matrix.ndim() == 2 && matrix.shape(1) == 4 && (matrix.shape(0) == 3 || matrix.shape(0) == 4);
  if (!shaped) throw Error(ErrorKind::usage, "a transform has the shape (3, 4) or (4, 4)");
  for (int row = 0; row != 3; ++row)
    for (int column = 0; column != 4; ++column) {
      const double x = matrix.at(row, column);
      if (!std::isfinite(x)) throw Error(ErrorKind::malformed, "a transform has a number that is not finite");
      transform(row, column) = x;
    }
  if (matrix.shape(0) == 4 &&
      (matrix.at(3, 0) != 0 || matrix.at(3, 1) != 0 || matrix.at(3, 2) != 0 || matrix.at(3, 3) != 1))
    throw Error(ErrorKind::usage, "the last row of a (4, 4) transform is 0, 0, 0, 1", {}, "transpose it");
  return transform;
}

std::uint32_t add_solid(SceneBox& box, py::ssize_t mesh, const py::object& transform, const std::string& name,
                        const py::object& material, const py::object& mother, const std::string& volume,
                        std::optional<std::int64_t> copy_number) {
  const Scene& known = box.scene;
  Instance instance;
  instance.mesh = index_in(known.meshes.size(), mesh, "mesh");
  instance.transform = transform_of(transform);
  const std::size_t parts = known.meshes[instance.mesh].parts.size();
  std::vector<std::uint32_t> binding;
  if (py::isinstance<py::list>(material) || py::isinstance<py::tuple>(material))
    for (const py::handle& one : material) binding.push_back(material_of(known, one));
  else
    binding.assign(parts, material_of(known, material));
  if (binding.size() != parts)
    throw Error(ErrorKind::usage, std::to_string(binding.size()) + " materials were given for " +
                                      std::to_string(parts) + " parts of a mesh");
  Node node;
  node.name = name.empty() ? known.meshes[instance.mesh].name : name;
  node.copy_number = copy_number;
  if (!mother.is_none()) {
    const std::uint32_t around = index_in(known.instances.size(), mother.cast<py::ssize_t>(), "solid");
    node.parent = known.instances[around].node;
    instance.outside = known.material(known.instances[around], 0);
  }
  // No Python code runs from here on.
  Scene& scene = box.change();
  if (!volume.empty()) {
    const auto same_volume = std::find(scene.volumes.begin(), scene.volumes.end(), volume);
    node.volume = static_cast<std::uint32_t>(same_volume - scene.volumes.begin());
    if (same_volume == scene.volumes.end()) scene.volumes.push_back(volume);
  }
  const auto same = std::find(scene.bindings.begin(), scene.bindings.end(), binding);
  instance.binding = static_cast<std::uint32_t>(same - scene.bindings.begin());
  if (same == scene.bindings.end()) scene.bindings.push_back(std::move(binding));
  instance.node = static_cast<std::uint32_t>(scene.nodes.size());
  scene.nodes.push_back(std::move(node));
  scene.instances.push_back(instance);
  return static_cast<std::uint32_t>(scene.instances.size() - 1);
}

}  // namespace

void add_scene_edits(py::module_& m) {
  auto scene = py::class_<SceneBox, ScenePointer>(m.attr("Scene"));
  scene
      .def("add_mesh", &add_mesh, py::arg("vertices"), py::arg("triangles"), py::kw_only(), py::arg("name") = "mesh",
           py::arg("parts") = py::none(),
           R"(Adds a mesh, which is copied: vertices (V, 3) of any numbers, triangles (T, 3) of their indices,
counter-clockwise as seen from outside. Vertices are stored as float32: give them around the mesh's own origin, and let
add_solid() move what is far away, or use add_centered_mesh(). parts: (T,) a number for each triangle, ascending from 0;
triangles of one part have one material. Returns its index. Raises Error: usage, malformed.)")
      .def("add_centered_mesh", &add_centered_mesh, py::arg("vertices"), py::arg("triangles"), py::kw_only(),
           py::arg("name") = "mesh", py::arg("parts") = py::none(),
           R"(Adds a mesh as add_mesh() does. Vertices far from the origin are stored around their middle, so that
float32 is as fine for them as for others. Returns (index, transform): give both to add_solid(). The (3, 4) transform has the
middle, or is the identity where the vertices are near the origin.)")
      .def("add_material", &add_material, py::arg("name"), py::kw_only(),
           py::arg("color") = std::array<float, 4>{0.8F, 0.8F, 0.8F, 1.0F},
           "Adds a bulk material, with a colour for images (RGBA, 0 to 1). Returns its index.")
      .def("add_solid", &add_solid, py::arg("mesh"), py::arg("transform") = py::none(), py::kw_only(),
           py::arg("name") = "", py::arg("material") = py::none(), py::arg("mother") = py::none(),
           py::arg("volume") = "", py::arg("copy_number") = py::none(),
           R"(Places a mesh: one solid. transform: (3, 4) or (4, 4), from the mesh's frame to millimetres.

material: name or index of what is inside, or a list of these, one for each part of the mesh. mother: index of the solid
around it, whose material is then outside. volume: name of the logical volume. Returns the solid's index.)");
}

}  // namespace raylift::python
