// SPDX-License-Identifier: Apache-2.0
// raylift.Scene, and loading one.
#include "scene.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/scene/pack.h>
#include <raylift/geometry/scene/solids.h>

#include <algorithm>
#include <cstdlib>

#include "parts.h"
#include "watch.h"

namespace raylift::python {
namespace {

using namespace py::literals;

/// A mesh of a scene, which this keeps alive.
struct MeshOf {
  ScenePointer box;
  std::uint32_t index;
  [[nodiscard]] const Mesh& mesh() const { return box->scene.meshes[index]; }
};

/// The scene's lists, in Python's types.
py::list nodes(const SceneBox& box) {
  py::list list;
  for (const Node& node : box.scene.nodes) list.append(py::make_tuple(node.name, or_none(node.parent)));
  return list;
}

template <class Of>
auto per_solid(const SceneBox& box, const Of& of) {
  std::vector<std::decay_t<decltype(of(box.scene.instances.front()))>> values;
  values.reserve(box.scene.instances.size());
  for (const Instance& instance : box.scene.instances) values.push_back(of(instance));
  return values;
}

/// One number for each solid, as int64; -1 for kNone.
template <class Of>
py::array_t<std::int64_t> indices(const SceneBox& box, const Of& of) {
  py::array_t<std::int64_t> array(static_cast<py::ssize_t>(box.scene.instances.size()));
  std::int64_t* at = array.mutable_data();
  for (const Instance& instance : box.scene.instances) {
    const std::uint32_t index = of(instance);
    *at++ = index == kNone ? -1 : std::int64_t{index};
  }
  return read_only(array);
}

py::array_t<double> transforms(const SceneBox& box) {
  py::array_t<double> array({static_cast<py::ssize_t>(box.scene.instances.size()), py::ssize_t{3}, py::ssize_t{4}});
  double* at = array.mutable_data();
  for (const Instance& instance : box.scene.instances)
    for (int row = 0; row != 3; ++row)
      for (int column = 0; column != 4; ++column) *at++ = instance.transform(row, column);
  return read_only(array);
}

py::array_t<double> bounds(SceneBox& box) {
  const Bounds& of = box.ready().bounds;
  py::array_t<double> array({2, 3});
  for (int axis = 0; axis != 3; ++axis) {
    array.mutable_at(0, axis) = of.min[axis];
    array.mutable_at(1, axis) = of.max[axis];
  }
  return read_only(array);
}

py::list in_argument_words(const std::vector<std::string>& texts) {
  py::list translated;
  const py::object of = py::module_::import("raylift.errors").attr("in_argument_words");
  for (const std::string& text : texts) translated.append(of(text));
  return translated;
}

py::dict report(const LoadReport& report) {
  return py::dict("degenerate_triangles"_a = report.degenerate_triangles,
                  "dropped_triangles"_a = report.dropped_triangles, "repaired_vertices"_a = report.repaired_vertices,
                  "ignored_primitives"_a = report.ignored_primitives,
                  "vertices_before_weld"_a = report.vertices_before_weld, "faces_checked"_a = report.faces_checked,
                  "sensitive_volumes"_a = report.sensitive_volumes, "warnings"_a = in_argument_words(report.warnings));
}

py::array_t<std::int64_t> mothers(const SceneBox& box) {
  const SolidTree tree = solid_tree(box.scene);
  py::array_t<std::int64_t> array(static_cast<py::ssize_t>(tree.size()));
  for (std::size_t i = 0; i != tree.size(); ++i)
    array.mutable_at(static_cast<py::ssize_t>(i)) = tree.mother[i] == kNone ? -1 : std::int64_t{tree.mother[i]};
  return read_only(array);
}

template <class T>
void set(const py::dict& given, const char* name, T& limit) {
  if (given.contains(name)) limit = given[name].cast<T>();
}

LoadLimits limits_of(const py::dict& given) {
  LoadLimits limits;
  for (const auto& [name, value] : given) {
    static const char* const kKnown[] = {"file_bytes",       "text_bytes",      "expansion",    "documents",
                                         "node_depth",       "instances",       "nodes",        "triangles",
                                         "polygon_vertices", "isolate_seconds", "isolate_bytes"};
    const auto text = name.cast<std::string>();
    if (std::find(std::begin(kKnown), std::end(kKnown), text) == std::end(kKnown))
      throw Error(ErrorKind::usage, "there is no limit '" + text + "'");
  }
  set(given, "file_bytes", limits.file_bytes);
  set(given, "text_bytes", limits.text_bytes);
  set(given, "expansion", limits.expansion);
  set(given, "documents", limits.documents);
  set(given, "node_depth", limits.node_depth);
  set(given, "instances", limits.instances);
  set(given, "nodes", limits.nodes);
  set(given, "triangles", limits.triangles);
  set(given, "polygon_vertices", limits.polygon_vertices);
  set(given, "isolate_seconds", limits.isolate_seconds);
  set(given, "isolate_bytes", limits.isolate_bytes);
  return limits;
}

UpAxis up_axis_of(const std::string& name) {
  if (name == "x") return UpAxis::x;
  if (name == "y") return UpAxis::y;
  if (name == "z") return UpAxis::z;
  throw Error(ErrorKind::usage, "'" + name + "' is no axis", {}, "use \"x\", \"y\" or \"z\"");
}

LoadOptions::Reader reader_of(const std::string& name) {
  if (name == "raylift") return LoadOptions::Reader::raylift;
  if (name == "assimp") return LoadOptions::Reader::assimp;
  throw Error(ErrorKind::usage, "'" + name + "' is no reader", {}, "use \"raylift\" or \"assimp\"");
}

Fineness::Fit fit_of(const std::string& name) {
  for (const Fineness::Fit fit : {Fineness::Fit::volume, Fineness::Fit::area, Fineness::Fit::inscribed})
    if (name == to_string(fit)) return fit;
  throw Error(ErrorKind::usage, "facets fit by \"volume\", \"area\" or \"inscribed\", not by '" + name + "'");
}

ScenePointer load_scene(const std::filesystem::path& path, std::optional<double> unit_mm,
                        const std::optional<std::string>& up_axis, const py::object& weld, bool external, bool repair,
                        bool drop_degenerate, const std::optional<std::filesystem::path>& optics, bool optics_beside,
                        bool sensor_materials, bool compute_rayleigh, bool strict_optics, bool isolate, bool rests,
                        double chord, std::uint32_t steps, const std::string& fit, const std::string& setup,
                        bool skip_failed_solids, const std::string& reader, const py::dict& limits,
                        const py::object& progress) {
  LoadOptions options;
  options.reader = reader_of(reader);
  options.unit_mm = unit_mm;
  if (up_axis) options.up_axis = up_axis_of(*up_axis);
  options.weld.enabled = !weld.is(py::bool_(false));
  if (!py::isinstance<py::bool_>(weld)) options.weld.tolerance = weld.cast<double>();
  options.external = external;
  options.repair = repair;
  options.drop_degenerate = drop_degenerate;
  if (optics) options.optics = *optics;
  options.optics_beside = optics_beside;
  options.sensor_materials = sensor_materials;
  options.compute_rayleigh = compute_rayleigh;
  options.strict_optics = strict_optics;
  options.isolate = isolate;
  options.rests = rests;
  options.fineness = {chord, steps, fit_of(fit)};
  options.setup = setup;
  options.skip_failed_solids = skip_failed_solids;
  if (isolate && std::getenv("RAYLIFT_IMPORT") == nullptr) options.import_program = RAYLIFT_IMPORT_PROGRAM;
  options.limits = limits_of(limits);
  auto box = std::make_shared<SceneBox>();
  Watch watch(progress);
  watch.run([&](const Progress& to) {
    box->scene = load(path, options, to);
    return 0;
  });
  return box;
}

py::bytes packed(const ScenePointer& box) {
  const Scene& scene = box->ready();
  const SceneUse use(box);
  const std::vector<std::byte> bytes = without_gil([&] { return pack(scene); });
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

ScenePointer unpacked(const py::bytes& bytes) {
  const std::string_view text = bytes;
  auto box = std::make_shared<SceneBox>();
  box->scene = without_gil([&] { return unpack(std::as_bytes(std::span(text))); });
  box->stale = true;
  return box;
}

void add_meshes(py::module_& m) {
  py::class_<MeshOf>(m, "Mesh", "A mesh of a scene: each one once, in its own frame and unit.")
      .def_property_readonly("name", [](const MeshOf& of) { return of.mesh().name; })
      .def_property_readonly(
          "vertices",
          [](const py::object& self) {
            const Mesh& mesh = self.cast<const MeshOf&>().mesh();
            return array_of(reinterpret_cast<const float*>(mesh.vertices.data()),
                            {static_cast<py::ssize_t>(mesh.vertices.size()), 3}, self);
          },
          "(V, 3) float32; read-only, without a copy.")
      .def_property_readonly(
          "triangles",
          [](const py::object& self) {
            const Mesh& mesh = self.cast<const MeshOf&>().mesh();
            return array_of(reinterpret_cast<const std::uint32_t*>(mesh.triangles.data()),
                            {static_cast<py::ssize_t>(mesh.triangles.size()), 3}, self);
          },
          "(T, 3) uint32, indices of vertices; read-only, without a copy.")
      .def_property_readonly(
          "parts",
          [](const MeshOf& of) {
            std::vector<std::pair<std::uint32_t, std::uint32_t>> parts;
            for (const Mesh::Part& part : of.mesh().parts) parts.emplace_back(part.first_triangle, part.triangle_count);
            return parts;
          },
          "(first triangle, number of triangles) of each part; parts have a material each.")
      .def("__repr__", [](const MeshOf& of) {
        return "<raylift.Mesh '" + of.mesh().name + "', " + std::to_string(of.mesh().triangles.size()) + " triangles>";
      });
}

}  // namespace

// The whole class, member by member, with the texts of Python's help().
void add_scenes(py::module_& m) {
  add_meshes(m);
  py::class_<SceneBox, ScenePointer>(m, "Scene",
                                     R"(A scene on the host: meshes, solids (placed volumes), materials, optics.

raylift.load() reads one from a file; add_mesh(), add_material() and add_solid() make one of arrays. Lengths are
millimetres. Solids are numbered from 0. Arrays are read-only: a scene changes by its methods. It can be copied and
pickled, with its optics.)")
      .def(py::init([] { return std::make_shared<SceneBox>(); }))
      .def(py::pickle([](const ScenePointer& box) { return packed(box); },
                      [](const py::bytes& bytes) { return unpacked(bytes); }))
      .def_property_readonly(
          "source", [](const SceneBox& b) { return b.scene.source; }, "The path that was loaded.")
      .def_property_readonly("format", [](const SceneBox& b) { return b.scene.format; })
      .def_property_readonly("generator", [](const SceneBox& b) { return b.scene.generator; })
      .def_property_readonly(
          "unit_mm", [](const SceneBox& b) { return b.scene.unit_mm; }, "Millimetres per unit of the file.")
      .def_property_readonly("up_axis", [](const SceneBox& b) { return "xyz"[static_cast<int>(b.scene.up_axis)]; })
      .def_property_readonly(
          "report", [](const SceneBox& b) { return report(b.scene.report); }, "What loading found and did.")
      .def_property_readonly("meshes",
                             [](const ScenePointer& box) {
                               std::vector<MeshOf> meshes;
                               for (std::uint32_t i = 0; i != box->scene.meshes.size(); ++i) meshes.push_back({box, i});
                               return meshes;
                             })
      .def_property_readonly(
          "materials",
          [](const SceneBox& b) {
            std::vector<std::string> names;
            for (const Material& material : b.scene.materials) names.push_back(material.name);
            return names;
          },
          "Their names.")
      .def_property_readonly(
          "material_colors",
          [](const SceneBox& b) {
            py::array_t<float> colors({static_cast<py::ssize_t>(b.scene.materials.size()), py::ssize_t{4}});
            float* at = colors.mutable_data();
            for (const Material& material : b.scene.materials)
              at = std::copy(material.color.begin(), material.color.end(), at);
            return read_only(colors);
          },
          "(M, 4) float32, RGBA from 0 to 1.")
      .def_property_readonly("nodes", &nodes, "(name, index of the parent or None) of each node of the file's tree.")
      .def(
          "__len__", [](const SceneBox& b) { return b.scene.instances.size(); }, "The number of solids.")
      .def_property_readonly(
          "solid_names",
          [](const SceneBox& b) { return per_solid(b, [&](const Instance& i) { return b.scene.solid_name(i); }); })
      .def_property_readonly(
          "volume_names",
          [](const SceneBox& b) { return per_solid(b, [&](const Instance& i) { return b.scene.volume_name(i); }); },
          "The logical volume of each solid.")
      .def_property_readonly(
          "paths", [](const SceneBox& b) { return per_solid(b, [&](const Instance& i) { return b.scene.path(i); }); },
          "The path of each solid, names from the root on: \"/World/Vessel/pmt_17\".")
      .def_property_readonly("transforms", &transforms, "(N, 3, 4) float64: from the mesh's frame to millimetres.")
      .def_property_readonly(
          "solid_meshes", [](const SceneBox& b) { return indices(b, [](const Instance& i) { return i.mesh; }); },
          "(N,) int64: index of each solid's mesh.")
      .def_property_readonly(
          "inside",
          [](const SceneBox& b) { return indices(b, [&](const Instance& i) { return b.scene.material(i, 0); }); },
          "(N,) int64: material of each solid's first part; -1: none.")
      .def_property_readonly(
          "outside", [](const SceneBox& b) { return indices(b, [](const Instance& i) { return i.outside; }); },
          "(N,) int64: material around each solid; -1: none.")
      .def_property_readonly("mothers", &mothers, "(N,) int64: the solid around each solid; -1: none.")
      .def_property_readonly("bounds", &bounds, "(2, 3) float64: the lowest and the highest corner, mm.")
      .def_property_readonly(
          "triangle_count", [](const SceneBox& b) { return b.scene.expanded_triangles(); },
          "The triangles of all solids.")
      .def("__repr__", [](const SceneBox& b) {
        return "<raylift.Scene '" + b.scene.source + "', " + std::to_string(b.scene.instances.size()) + " solids, " +
               std::to_string(b.scene.unique_triangles()) + " unique triangles>";
      });

  m.def("load", &load_scene, py::arg("path"), py::kw_only(), py::arg("unit_mm") = py::none(),
        py::arg("up_axis") = py::none(), py::arg("weld") = true, py::arg("external") = false, py::arg("repair") = false,
        py::arg("drop_degenerate") = false, py::arg("optics") = py::none(), py::arg("optics_beside") = true,
        py::arg("sensor_materials") = true, py::arg("compute_rayleigh") = true, py::arg("strict_optics") = false,
        py::arg("isolate") = false, py::arg("rests") = false, py::arg("chord") = 0.0, py::arg("steps") = 0,
        py::arg("fit") = "volume", py::arg("setup") = "", py::arg("skip_failed_solids") = false,
        py::arg("reader") = "raylift", py::arg("limits") = py::dict(), py::arg("progress") = py::none(),
        R"(Reads a scene: COLLADA (.dae, .zae, .dae.gz), GDML, and all other formats of Assimp.

unit_mm, up_axis: instead of what the file says. weld: equal vertices become one (True), or those closer
than this number of the file's units, or none (False).
external: read other documents that the file refers to, beneath its folder. repair: drop vertices that are not finite,
and indices out of range. optics: a sidecar (.json) or GDML laid over the file's own optics. isolate: import in a child
process, for files that are not trusted. reader: "raylift", or "assimp" to read COLLADA, OBJ, STL, PLY and 3MF by
Assimp's own importers, for comparison; use isolate with it. chord, steps, fit, setup, skip_failed_solids: of GDML and STEP, as the
programs' options have them. rests: keep what floats lack to the file's numbers. limits: by name, as LoadLimits has them: file_bytes, triangles, instances...
Raises raylift.Error: io, malformed, unsupported, limit, out_of_host_memory, cancelled, usage.)");
  m.def("supported_extensions", &supported_extensions, "The extensions of files that load() reads.");
}

}  // namespace raylift::python
