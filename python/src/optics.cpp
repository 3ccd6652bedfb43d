// SPDX-License-Identifier: Apache-2.0
// A scene's optics: tables as arrays, in and out. raylift/optics.py has the public classes.
#include <pybind11/stl.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/optics/sidecar.h>
#include <raylift/geometry/optics/words.h>

#include "parts.h"
#include "scene.h"

namespace raylift::python {
namespace {

using Numbers = py::array_t<double, py::array::c_style | py::array::forcecast>;

PropertyOf owner_of(const std::string& kind) {
  return kind == "surface" ? PropertyOf::surface : PropertyOf::material;
}

/// The properties of a material or surface; null where the scene has no optics yet.
const OpticalProperties* find(const SceneBox& box, const std::string& kind, std::size_t index) {
  const Optics& optics = box.scene.optics;
  if (owner_of(kind) == PropertyOf::surface) return &optics.surfaces.at(index).properties;
  return index < optics.materials.size() ? &optics.materials[index] : nullptr;
}

OpticalProperties& change(SceneBox& box, const std::string& kind, std::size_t index) {
  Optics& optics = box.change().optics;
  if (owner_of(kind) == PropertyOf::surface) return optics.surfaces.at(index).properties;
  if (optics.materials.size() < box.scene.materials.size()) optics.materials.resize(box.scene.materials.size());
  return optics.materials.at(index);
}

std::vector<std::string> keys(const SceneBox& box, const std::string& kind, std::size_t index) {
  std::vector<std::string> names;
  const OpticalProperties* const properties = find(box, kind, index);
  if (properties == nullptr) return names;
  for (const OpticalTable& table : properties->tables) names.push_back(table.key);
  for (const OpticalProperties::Constant& constant : properties->constants) names.push_back(constant.key);
  return names;
}

/// A number, or (whether over energy, where, values), or None.
py::object get(const SceneBox& box, const std::string& kind, std::size_t index, const std::string& key) {
  const OpticalProperties* const properties = find(box, kind, index);
  if (properties == nullptr) return py::none();
  if (const OpticalTable* const table = properties->table(key))
    return py::make_tuple(table->axis == OpticalTable::Axis::energy_ev,
                          py::array_t<double>(static_cast<py::ssize_t>(table->at.size()), table->at.data()),
                          py::array_t<double>(static_cast<py::ssize_t>(table->values.size()), table->values.data()));
  if (const std::optional<double> constant = properties->constant(key)) return py::float_(*constant);
  return py::none();
}

bool remove(SceneBox& box, const std::string& kind, std::size_t index, const std::string& key) {
  OpticalProperties& properties = change(box, kind, index);
  const auto named = [&](const auto& property) { return property.key == key; };
  return std::erase_if(properties.tables, named) + std::erase_if(properties.constants, named) != 0;
}

void set_table(SceneBox& box, const std::string& kind, std::size_t index, const std::string& key, bool over_energy,
               const Numbers& at, const Numbers& values) {
  if (at.ndim() != 1 || values.ndim() != 1 || at.size() != values.size())
    throw Error(ErrorKind::usage, "a table has as many values as energies or wavelengths", {box.scene.source, key});
  OpticalTable table{key, over_energy ? OpticalTable::Axis::energy_ev : OpticalTable::Axis::wavelength_nm, {}, {}};
  table.at.assign(at.data(), at.data() + at.size());
  table.values.assign(values.data(), values.data() + values.size());
  (void)remove(box, kind, index, key);
  change(box, kind, index).tables.push_back(std::move(table));
}

void set_constant(SceneBox& box, const std::string& kind, std::size_t index, const std::string& key, double value) {
  (void)remove(box, kind, index, key);
  change(box, kind, index).constants.push_back({key, value});
}

template <class Word, class Find>
Word word(const Find& find_word, const std::string& text, const char* what) {
  const auto found = find_word(text);
  if (!found) throw Error(ErrorKind::usage, "'" + text + "' is no " + what, {}, "docs/optics.md lists them");
  return *found;
}

std::uint32_t add_surface(SceneBox& box, const std::string& name, const std::string& model, const std::string& finish,
                          const std::string& type, double value) {
  OpticalSurface surface;
  surface.name = name;
  surface.model = word<SurfaceModel>(surface_model, model, "model of a surface");
  surface.finish = word<SurfaceFinish>(surface_finish, finish, "finish of a surface");
  surface.type = word<SurfaceType>(surface_type, type, "type of a surface");
  surface.value = value;
  box.change().optics.surfaces.push_back(std::move(surface));
  return static_cast<std::uint32_t>(box.scene.optics.surfaces.size() - 1);
}

SolidSelector selector_of(const py::dict& given) {
  SolidSelector selector;
  for (const auto& [name, value] : given) {
    const auto key = name.cast<std::string>();
    if (key == "solid")
      selector.solid = value.cast<std::string>();
    else if (key == "volume")
      selector.volume = value.cast<std::string>();
    else if (key == "mesh")
      selector.mesh = value.cast<std::string>();
    else if (key == "material")
      selector.material = value.cast<std::string>();
    else if (key == "path")
      selector.path = value.cast<std::string>();
    else if (key == "copy_number")
      selector.copy_number = value.cast<std::int64_t>();
    else
      throw Error(ErrorKind::usage, "solids are not selected by '" + key + "'", {},
                  "use solid, volume, mesh, material, path or copy_number");
  }
  if (selector == SolidSelector{}) throw Error(ErrorKind::usage, "no solids are selected");
  return selector;
}

void assign(SceneBox& box, std::size_t surface, const py::dict& from, const py::object& to, const std::string& name) {
  const Optics& optics = box.scene.optics;
  SurfaceAssignment assignment;
  assignment.surface = index_in(optics.surfaces.size(), static_cast<py::ssize_t>(surface), "surface");
  assignment.kind = to.is_none() ? SurfaceAssignment::Kind::skin : SurfaceAssignment::Kind::border;
  assignment.name = name.empty() ? optics.surfaces[surface].name : name;
  assignment.from = selector_of(from);
  if (!to.is_none()) assignment.to = selector_of(to);
  box.change().optics.assignments.push_back(std::move(assignment));
}

void add_channels(SceneBox& box, const py::dict& solids, std::optional<std::int64_t> first) {
  SolidSelector selector = selector_of(solids);
  box.change().optics.channel_assignments.push_back({std::move(selector), kNone, first});
}

py::array_t<std::int64_t> channels(SceneBox& box) {
  const std::vector<Optics::Channel>& list = box.ready().optics.channels;
  py::array_t<std::int64_t> array({static_cast<py::ssize_t>(list.size()), py::ssize_t{2}});
  std::int64_t* at = array.mutable_data();
  for (const Optics::Channel& channel : list) {
    *at++ = channel.solid;
    *at++ = channel.number;
  }
  return read_only(array);
}

py::list unhonoured(const SceneBox& box) {
  py::list list;
  for (const UnhonouredProperty& property : unhonoured_properties(box.scene))
    list.append(py::make_tuple(property.of == PropertyOf::surface ? "surface" : "material", property.owner,
                               property.key, property.why));
  return list;
}

py::dict surface_words(const SceneBox& box, std::size_t index) {
  using namespace py::literals;
  const OpticalSurface& surface = box.scene.optics.surfaces.at(index);
  return py::dict("name"_a = surface.name, "model"_a = to_string(surface.model), "finish"_a = to_string(surface.finish),
                  "type"_a = to_string(surface.type), "value"_a = surface.value);
}

}  // namespace

void add_optics(py::module_& m) {
  auto scene = py::class_<SceneBox, ScenePointer>(m.attr("Scene"));
  scene
      .def_property_readonly(
          "optics", [](const py::object& self) { return py::module_::import("raylift.optics").attr("Optics")(self); },
          "Its materials' and surfaces' properties, to read and to change: an Optics.")
      .def_property_readonly("channels", &channels,
                             "(C, 2) int64: index and channel number of each solid that detects.")
      .def_property_readonly(
          "unhonoured", &unhonoured,
          "(\"material\" or \"surface\", its name, key, why) of what the simulation does not honour.")
      .def(
          "optics_json", [](SceneBox& b) { return optics_json(b.ready()); },
          "The optics as a sidecar's text, which load(optics=...) reads: docs/optics.md.")
      .def("_surfaces",
           [](const SceneBox& b) {
             std::vector<std::string> names;
             for (const OpticalSurface& surface : b.scene.optics.surfaces) names.push_back(surface.name);
             return names;
           })
      .def("_surface_words", &surface_words)
      .def("_add_surface", &add_surface)
      .def("_assign", &assign)
      .def("_add_channels", &add_channels)
      .def("_property_keys", &keys)
      .def("_property", &get)
      .def("_set_table", &set_table)
      .def("_set_constant", &set_constant)
      .def("_remove_property", &remove);
}

}  // namespace raylift::python
