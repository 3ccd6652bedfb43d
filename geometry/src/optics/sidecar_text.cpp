// SPDX-License-Identifier: Apache-2.0
// Writes a scene's optics as a sidecar.
#include <raylift/geometry/error.h>
#include <raylift/geometry/optics/sidecar.h>
#include <raylift/geometry/optics/words.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <unordered_map>

#include "json_value.h"
#include "scene/names.h"

namespace raylift {
namespace {

using detail::Json;

/// Lists of numbers and words take one line; numbers have as few digits as read back the same.
void print(std::string& text, const Json& value, std::size_t indent) {
  const auto line = [&](std::size_t more) { text += '\n' + std::string(indent + more, ' '); };
  const bool list = value.is_array();
  const bool flat =
      list && std::none_of(value.begin(), value.end(), [](const Json& one) { return one.is_structured(); });
  if (value.is_number_float()) {
    char digits[32];
    text.append(digits, std::to_chars(digits, digits + sizeof digits, value.get<double>()).ptr);
  } else if (!value.is_structured() || value.empty()) {
    text += value.dump();
  } else {
    text += list ? '[' : '{';
    bool first = true;
    for (const auto& [name, inner] : value.items()) {
      if (!first) text += flat ? ", " : ",";
      if (!flat) line(2);
      if (!list) text += Json(name).dump() + ": ";
      print(text, inner, indent + 2);
      first = false;
    }
    if (!flat) line(0);
    text += list ? ']' : '}';
  }
}

Json table_json(const OpticalTable& table) {
  return {{table.axis == OpticalTable::Axis::energy_ev ? "energy_eV" : "wavelength_nm", table.at},
          {"values", table.values}};
}

Json properties_json(const OpticalProperties& properties) {
  Json json = Json::object();
  for (const OpticalTable& table : properties.tables) json[table.key] = table_json(table);
  for (const OpticalProperties::Constant& constant : properties.constants) json[constant.key] = constant.value;
  return json;
}

Json surface_json(const OpticalSurface& surface) {
  Json json = {{"model", to_string(surface.model)},
               {"finish", to_string(surface.finish)},
               {"type", to_string(surface.type)},
               {"value", surface.value},
               {"properties", properties_json(surface.properties)}};
  for (const OpticalSurface::DichroicAngle& angle : surface.dichroic)
    json["dichroic"].push_back(
        {{"radians", angle.radians}, {"reflect", table_json(angle.reflect)}, {"transmit", table_json(angle.transmit)}});
  return json;
}

Json selector_json(const SolidSelector& selector) {
  Json json = Json::object();
  const auto add = [&](const char* name, const std::string& pattern) {
    if (!pattern.empty()) json[name] = pattern;
  };
  add("solid", selector.solid);
  add("volume", selector.volume);
  add("mesh", selector.mesh);
  add("material", selector.material);
  add("path", selector.path);
  if (selector.copy_number) json["copy_number"] = *selector.copy_number;
  return json;
}

Json channel_type_json(const ChannelType& type) {
  Json json = Json::object();
  if (type.efficiency) json["efficiency"] = table_json(*type.efficiency);
  if (!type.angles.empty()) {
    json["angle_radians"] = type.angles;
    json["angle_efficiency"] = type.angle_efficiency;
  }
  if (!type.time.at.empty()) json["time"] = {{"ns", type.time.at}, {"density", type.time.density}};
  if (!type.charge.at.empty()) json["charge"] = {{"pe", type.charge.at}, {"density", type.charge.density}};
  return json;
}

/// A name for each surface by which references find it.
std::vector<std::string> distinct_names(const std::vector<OpticalSurface>& surfaces) {
  std::set<std::string> taken;
  for (const OpticalSurface& surface : surfaces) taken.insert(surface.name);
  std::set<std::string> given;
  std::unordered_map<std::string, std::size_t> last;
  std::vector<std::string> names;
  for (const OpticalSurface& surface : surfaces) {
    std::string name = surface.name;
    while (!given.insert(name).second) {
      name = surface.name + '#' + std::to_string(++last.try_emplace(surface.name, 1).first->second);
      if (taken.contains(name)) name = surface.name;  // another surface has this name
    }
    names.push_back(std::move(name));
  }
  return names;
}

Json materials_json(const Scene& scene) {
  Json json = Json::object();
  std::unordered_map<std::string_view, std::size_t> first;
  for (std::size_t i = 0; i != scene.optics.materials.size(); ++i) {
    const std::string& name = scene.materials[i].name;
    const OpticalProperties& properties = scene.optics.materials[i];
    const auto [earlier, added] = first.try_emplace(name, i);
    if (!added && scene.optics.materials[earlier->second] != properties)
      throw Error(ErrorKind::unsupported, "two materials are called '" + name + "' and have different properties",
                  {scene.source, ""}, "a sidecar finds materials by their names: give them different ones");
    if (added && !properties.empty()) json[literal_pattern(name)] = properties_json(properties);
  }
  return json;
}

Json sidecar_json(const Scene& scene) {
  const Optics& optics = scene.optics;
  Json json = {{"raylift_optics", 1}};
  if (!optics.materials.empty()) json["materials"] = materials_json(scene);
  const std::vector<std::string> names = distinct_names(optics.surfaces);
  for (std::size_t i = 0; i != names.size(); ++i)
    json["surfaces"][literal_pattern(names[i])] = surface_json(optics.surfaces[i]);
  for (const SurfaceAssignment& assignment : optics.assignments) {
    Json one = {{"name", assignment.name}, {"surface", names[assignment.surface]}};
    if (assignment.kind == SurfaceAssignment::Kind::skin)
      one["skin"] = selector_json(assignment.from);
    else
      one["border"] = {{"from", selector_json(assignment.from)}, {"to", selector_json(assignment.to)}};
    json["assignments"].push_back(std::move(one));
  }
  for (const ChannelType& type : optics.channel_types) json["channel_types"][type.name] = channel_type_json(type);
  for (const ChannelAssignment& assignment : optics.channel_assignments) {
    Json one = {{"solids", selector_json(assignment.solids)}};
    if (assignment.type != kNone) one["type"] = optics.channel_types[assignment.type].name;
    if (assignment.first) one["first"] = *assignment.first;
    json["channels"].push_back(std::move(one));
  }
  return json;
}

}  // namespace

std::string optics_json(const Scene& scene) {
  try {
    std::string text;
    print(text, sidecar_json(scene), 0);
    return text + '\n';
  } catch (const Json::type_error& error) {
    throw Error(ErrorKind::unsupported, "a name is not UTF-8, and JSON has no other", {scene.source, ""},
                "export the scene with names in UTF-8");
  }
}

}  // namespace raylift
