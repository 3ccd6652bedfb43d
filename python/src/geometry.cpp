// SPDX-License-Identifier: Apache-2.0
// raylift.Geometry: a scene on a device, its arrays, its report.
#include "geometry.h"

#include <pybind11/stl.h>
#include <raylift/geometry/error.h>
#include <raylift/gpu/upload/colors.h>

#include <algorithm>
#include <array>

#include "parts.h"
#include "watch.h"

namespace raylift::python {
namespace {

/// Whether an array is read-only: the BVH, media or addresses depend on it.
bool is_read_only(ViewArray array) {
  switch (array) {
    case ViewArray::material_colors:
    case ViewArray::colors:
    case ViewArray::solid_colors:
    case ViewArray::optical_rows:
    case ViewArray::optical_materials:
    case ViewArray::optical_surfaces:
    case ViewArray::optical_points:
    case ViewArray::channels:
      return false;
    default:
      return true;
  }
}

std::optional<ViewArray> find(const GeometryBox& box, const std::string& name) {
  const ViewArrayInfo* const row = find_view_array(name);
  if (row == nullptr || !box.geometry.has(row->array)) return std::nullopt;
  return row->array;
}

Array view_array(const GeometryPointer& box, ViewArray which) {
  const Memory& memory = box->geometry.array(which);
  const ViewArrayInfo& row = info(which);
  std::vector<py::ssize_t> shape{static_cast<py::ssize_t>(memory.bytes() / row.element_bytes)};
  if (which == ViewArray::optical_buckets) shape = {shape.front() / kTableEntries, kTableEntries};
  Array array = make_array(box->geometry.device(), memory.device(), dtype_of(which), std::move(shape), py::cast(box),
                           is_read_only(which));
  if (memory.where() == Residency::split) array.host_part = memory.device() + memory.device_bytes();
  return array;
}

Array array_named(const GeometryPointer& box, const std::string& name) {
  if (const std::optional<ViewArray> which = find(*box, name)) return view_array(box, *which);
  throw py::key_error("the geometry has no array '" + name + "'");
}

py::dict arrays(const GeometryPointer& box) {
  py::dict all;
  for (std::size_t i = 0; i != kViewArrays; ++i) {
    const auto which = static_cast<ViewArray>(i);
    if (box->geometry.has(which)) all[py::str(std::string(info(which).name))] = view_array(box, which);
  }
  return all;
}

Device device_of(const py::object& given) {
  if (py::isinstance<Device>(given)) return given.cast<Device>();
  return Device::parse(given.cast<std::string>());
}

/// (start, step, number) in nm, or equally spaced wavelengths as an array.
Raster raster_of(const py::object& given) {
  if (given.is_none()) return kOwnPoints;
  const auto values = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(given);
  if (!values || values.ndim() != 1 || values.size() < 2)
    throw Error(ErrorKind::usage, "wavelengths are an array of at least two");
  const double* const at = values.data();
  const auto last = values.size() - 1;
  const double step = (at[last] - at[0]) / static_cast<double>(last);
  for (py::ssize_t i = 0; i <= last; ++i)
    if (std::abs(at[i] - (at[0] + static_cast<double>(i) * step)) > 1e-3 * std::abs(step))
      throw Error(ErrorKind::usage, "wavelengths must be equally spaced");
  return {static_cast<float>(at[0]), static_cast<float>(step), static_cast<std::uint32_t>(last + 1)};
}

UploadOptions options_of(std::optional<double> budget, double reserve, const std::string& policy, bool flatten,
                         bool bvh, const std::string& builder, const py::object& wavelengths,
                         const std::string& positions, const std::optional<std::array<double, 3>>& origin) {
  const auto bytes = [](double given, const char* what) {
    if (!(given >= 0) || given > 1.8e19) throw Error(ErrorKind::usage, std::string(what) + " is a number of bytes");
    return static_cast<std::uint64_t>(given);
  };
  UploadOptions options;
  if (budget) options.budget = bytes(*budget, "budget");
  options.reserve = bytes(reserve, "reserve");
  options.policy = placement_policy(policy);
  options.flatten = flatten;
  options.bvh = bvh;
  if (builder != "host" && builder != "device")
    throw Error(ErrorKind::usage, "a BVH is built by \"host\" or \"device\", not by '" + builder + "'");
  options.bvh_builder = builder == "device" ? UploadOptions::BvhBuilder::device : UploadOptions::BvhBuilder::host;
  options.raster = raster_of(wavelengths);
  options.positions = positions_of(positions);
  if (origin) options.origin = Double3((*origin)[0], (*origin)[1], (*origin)[2]);
  return options;
}

GeometryPointer upload_scene(const ScenePointer& scene, const py::object& device_name, std::optional<double> budget,
                             double reserve, const std::string& policy, bool flatten, bool bvh,
                             const std::string& builder, const py::object& wavelengths, const std::string& positions,
                             const std::optional<std::array<double, 3>>& origin, const py::object& progress) {
  const UploadOptions options =
      options_of(budget, reserve, policy, flatten, bvh, builder, wavelengths, positions, origin);
  Watch watch(progress);
  const Device device = device_of(device_name);
  const Scene& ready = scene->ready();
  const SceneUse use(scene);
  return watch.run([&](const Progress& to) {
    return std::make_shared<GeometryBox>(GeometryBox{upload(ready, device, options, to), scene, Stream(device)});
  });
}

template <class Change>
void recolor(GeometryBox& box, const Change& change) {
  without_gil([&] {
    change(box.geometry, box.stream);
    return 0;
  });
}

using Colors = py::array_t<std::uint32_t, py::array::c_style | py::array::forcecast>;

std::span<const std::uint32_t> span_of(const Colors& values) {
  return {values.data(), static_cast<std::size_t>(values.size())};
}

using Transforms = py::array_t<double, py::array::c_style | py::array::forcecast>;

using Solids = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>;

/// The solids' numbers, as they were given in messages. Throws Error(usage).
std::vector<std::uint32_t> numbers_of(const GeometryBox& box, const Solids& solids) {
  std::vector<std::uint32_t> numbers(static_cast<std::size_t>(solids.size()));
  const std::size_t count = box.scene->scene.instances.size();
  for (std::size_t i = 0; i != numbers.size(); ++i) {
    const std::int64_t solid = solids.data()[i];
    if (solid < 0 || static_cast<std::size_t>(solid) >= count)
      throw Error(ErrorKind::usage, "there is no solid " + std::to_string(solid), {box.scene->scene.source, ""},
                  "solids are numbered from 0 to " + std::to_string(count - 1));
    numbers[i] = static_cast<std::uint32_t>(solid);
  }
  return numbers;
}

void set_transforms(GeometryBox& box, const Solids& solids, const Transforms& transforms) {
  const std::vector<std::uint32_t> numbers = numbers_of(box, solids);
  const bool shaped = transforms.ndim() == 3 && static_cast<std::size_t>(transforms.shape(0)) == numbers.size() &&
                      (transforms.shape(1) == 3 || transforms.shape(1) == 4) && transforms.shape(2) == 4;
  if (!shaped) throw Error(ErrorKind::usage, "transforms must have the shape (N, 3, 4) or (N, 4, 4), for N solids");
  const auto size = static_cast<std::size_t>(4 * transforms.shape(1));
  static constexpr std::array<double, 4> kLastRow{0, 0, 0, 1};
  std::vector<Transform> affine(numbers.size());
  for (std::size_t i = 0; i != affine.size(); ++i) {
    const double* const matrix = transforms.data() + size * i;
    if (size == 16 && !std::equal(kLastRow.begin(), kLastRow.end(), matrix + 12))
      throw Error(ErrorKind::usage, "the last row of a (4, 4) transform is 0, 0, 0, 1", {}, "transpose it");
    std::copy_n(matrix, 12, affine[i].m);
  }
  without_gil([&] {
    box.geometry.set_transforms(numbers, affine, box.stream);
    return 0;
  });
}

void add_moves(py::class_<GeometryBox, GeometryPointer>& geometry) {
  geometry
      .def(
          "set_transforms", &set_transforms, py::arg("solids"), py::arg("transforms"),
          R"(Moves solids of a scene in two levels: (N,) their numbers, (N, 3, 4) or (N, 4, 4) from the mesh's frame to millimetres.

Nothing may use the geometry meanwhile. The Scene stays as it is. Raises Error: usage, limit, memory, device.)")
      .def(
          "set_visible",
          [](GeometryBox& box, const Solids& solids, bool visible) {
            const std::vector<std::uint32_t> numbers = numbers_of(box, solids);
            recolor(box, [&](GpuGeometry& g, const Stream& s) { g.set_visible(numbers, visible, s); });
          },
          py::arg("solids"), py::arg("visible"), "Hides solids from rays, or shows them again, by their numbers (N,).");
}

void add_colors(py::class_<GeometryBox, GeometryPointer>& geometry) {
  geometry
      .def(
          "set_colors",
          [](GeometryBox& box, const Colors& colors) {
            recolor(box, [&](GpuGeometry& g, const Stream& s) { set_colors(g, span_of(colors), s); });
          },
          py::arg("colors"),
          "Sets all colours, 0xAARRGGBB with the alpha inverted: of the solids, or of a flat scene's triangles.")
      .def(
          "color_solids",
          [](GeometryBox& box, const Solids& solids, std::uint32_t color) {
            const std::vector<std::uint32_t> numbers = numbers_of(box, solids);
            recolor(box, [&](GpuGeometry& g, const Stream& s) { color_solids(g, numbers, color, s); });
          },
          py::arg("solids"), py::arg("color"), "Gives some solids one colour.")
      .def(
          "reset_colors",
          [](GeometryBox& box) { recolor(box, [](GpuGeometry& g, const Stream& s) { reset_colors(g, s); }); },
          "Gives all solids the colours of their materials.");
}

}  // namespace

// The whole class, member by member, with the texts of Python's help().
void add_geometry(py::module_& m) {
  auto geometry = py::class_<GeometryBox, GeometryPointer>(m, "Geometry", R"(A scene on a device; owns its arrays.

Arrays are attributes by their names in the report: ``geometry.vertices``, ``geometry.triangles``, ``geometry.nodes``,
``geometry.optical_rows``. A missing one is an AttributeError. They keep the geometry.)");
  geometry.def_property_readonly("device", [](const GeometryBox& b) { return b.geometry.device(); })
      .def_property_readonly("scene", [](const GeometryBox& b) { return b.scene; })
      .def_property_readonly(
          "origin",
          [](const GeometryBox& b) {
            const double* const origin = b.geometry.view().origin;
            return py::make_tuple(origin[0], origin[1], origin[2]);
          },
          "The point, in mm, that was subtracted from the scene's coordinates.")
      .def_property_readonly(
          "levels", [](const GeometryBox& b) { return b.geometry.view().bvh_levels; },
          "The levels of the BVH: 0 without one, 1 for a flat scene, 2 with instances.")
      .def_property_readonly(
          "wavelengths",
          [](const GeometryBox& b) {
            const Raster& raster = b.geometry.view().optics.raster;
            py::array_t<float> at(raster.count);
            for (std::uint32_t i = 0; i != raster.count; ++i)
              at.mutable_at(i) = raster.start + raster.step * static_cast<float>(i);
            return at;
          },
          "(W,) float32, nm: at which optical tables were sampled; empty where they keep their own points.")
      .def_property_readonly("arrays", &arrays, "All arrays, by name.")
      .def_property_readonly(
          "view",
          [](const GeometryBox& b) {
            const GeometryView& view = b.geometry.view();
            return py::bytes(reinterpret_cast<const char*>(&view), sizeof view);
          },
          "The bytes of the struct GeometryView, which a kernel takes by value.")
      .def("array", &array_named, py::arg("name"))
      .def("__getattr__",
           [](const GeometryPointer& box, const std::string& name) {
             if (const std::optional<ViewArray> which = find(*box, name)) return view_array(box, *which);
             throw py::attribute_error("the geometry has no array and no attribute '" + name + "'");
           })
      .def_property_readonly(
          "report",
          [](const GeometryBox& b) {
            const ResidencyReport& report = b.geometry.report();
            return py::module_::import("raylift.report").attr("Report")(report.json(), report.table());
          },
          "The residency report: for each array where it is, how much of it, and why. A dict that prints as a table.")
      .def("__repr__", [](const GeometryBox& b) {
        const GeometryView& view = b.geometry.view();
        return "<raylift.Geometry on " + b.geometry.device().info().id + ", " + std::to_string(view.triangle_count) +
               " triangles, " + std::to_string(view.instance_count) + " instances, " +
               human_bytes(b.geometry.report().bytes()) + ">";
      });
  add_colors(geometry);
  add_moves(geometry);

  m.def("upload", &upload_scene, py::arg("scene"), py::arg("device") = "auto", py::kw_only(),
        py::arg("budget") = py::none(), py::arg("reserve") = static_cast<double>(kDefaultReserve),
        py::arg("policy") = "auto", py::arg("flatten") = false, py::arg("bvh") = true, py::arg("builder") = "host",
        py::arg("wavelengths") = py::none(), py::arg("positions") = "automatic", py::arg("origin") = py::none(),
        py::arg("progress") = py::none(),
        R"(Uploads a scene to a device; returns when all arrays have arrived.

device: "auto", "host", "cuda:N" or a Device. budget, reserve: bytes of device memory to take at most, and to leave free.
policy: "auto", "chroma", "mapped", "device". flatten: one mesh, with its arrays per triangle, as in Chroma. bvh: build
what ray queries need; builder: by the "host" (the best trees) or the "device" (faster). wavelengths: nm, equally spaced,
at which optical tables are sampled; by default they keep their own points. positions: how finely photons' places are
known: "floats", "fine", or "automatic": finely in scenes with thin layers. origin: mm, subtracted in double.
Raises raylift.Error: limit, out_of_device_memory, out_of_host_memory, device, usage, cancelled.)");
  m.attr("ray_dtype") = ray_dtype();
  m.attr("hit_dtype") = hit_dtype();
  m.attr("photon_dtype") = photon_dtype();
}

}  // namespace raylift::python
