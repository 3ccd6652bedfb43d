// SPDX-License-Identifier: Apache-2.0
#include "sidecar.h"

#include <raylift/geometry/error.h>
#include <raylift/geometry/optics/words.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <set>
#include <utility>

#include "base/suggest.h"
#include "edit_optics.h"
#include "property_faults.h"
#include "property_table.h"
#include "scene/names.h"

namespace raylift::detail {
namespace {

constexpr std::int64_t kVersion = 1;

class Sidecar {
 public:
  Sidecar(Scene& scene, const ReadFile& read) : scene_(scene), optics_(scene.optics), tables_(read) {}

  void read(const JsonValue& root) {
    root.allow(
        {"$schema", "raylift_optics", "discard", "materials", "surfaces", "assignments", "channel_types", "channels"});
    if (const JsonValue version = root.at("raylift_optics"); version.integer() != kVersion)
      throw Error(ErrorKind::unsupported,
                  "the sidecar is of version " + std::to_string(version.integer()) + ", and this raylift reads " +
                      std::to_string(kVersion),
                  {root.file(), ""});
    const auto each = [&](const char* member, auto function) {
      if (root.has(member)) (this->*function)(root.at(member));
    };
    each("discard", &Sidecar::discard);
    each("materials", &Sidecar::materials);
    each("surfaces", &Sidecar::surfaces);
    each("assignments", &Sidecar::assignments);
    each("channel_types", &Sidecar::channel_types);
    each("channels", &Sidecar::channels);
  }

 private:
  /// What the scene's own file says, part by part.
  void discard(const JsonValue& list) {
    for (const JsonValue& one : list.elements()) {
      const std::string part = one.text();
      if (part == "materials") {
        optics_.materials.clear();
      } else if (part == "surfaces" || part == "assignments") {
        if (part == "surfaces") optics_.surfaces.clear();
        optics_.assignments.clear();
      } else if (part == "channels") {
        optics_.channel_types.clear();
        optics_.channel_assignments.clear();
      } else {
        one.fail("is '" + part + "'" + base::did_you_mean(part, {"materials", "surfaces", "assignments", "channels"}),
                 "it may be materials, surfaces, assignments or channels");
      }
    }
  }

  void warn(const JsonValue& at, const std::string& what) const {
    scene_.report.warnings.push_back(at.file() + ": " + at.path() + ": " + what);
  }

  void materials(const JsonValue& all) {
    NameIndex index;
    for (const Material& material : scene_.materials) index.add(material.name);
    if (optics_.materials.empty()) optics_.materials.resize(scene_.materials.size());
    for (const auto& [pattern, value] : all.members()) {
      const std::vector<std::uint32_t> meant = index.meant(pattern);
      if (meant.empty()) warn(value, "no material of the scene is called so" + index.suggestion(pattern));
      OpticalProperties nobodys;  // so that mistakes are found all the same
      if (meant.empty()) change(nobodys, value, PropertyOf::material);
      for (const std::uint32_t material : meant) change(optics_.materials[material], value, PropertyOf::material);
    }
  }

  void change(OpticalProperties& properties, const JsonValue& value, PropertyOf of) {
    if (value.is_null()) {
      properties = {};
      return;
    }
    for (const auto& [key, property] : value.members()) tables_.change(properties, key, property, of);
  }

  void surfaces(const JsonValue& all) {
    NameIndex index;
    for (const OpticalSurface& surface : optics_.surfaces) index.add(surface.name);
    std::vector<bool> gone(optics_.surfaces.size(), false);
    for (const auto& [pattern, value] : all.members()) {
      std::vector<std::uint32_t> meant = index.meant(pattern);
      if (meant.empty() && (value.is_null() || has_wildcard(pattern))) {
        warn(value, "no surface of the scene is called so" + index.suggestion(pattern));
        OpticalSurface nobodys;
        if (!value.is_null()) change(nobodys, value);
        continue;
      }
      if (meant.empty()) {
        meant.push_back(static_cast<std::uint32_t>(optics_.surfaces.size()));
        optics_.surfaces.emplace_back().name = literal_text(pattern);
        gone.push_back(false);
      }
      for (const std::uint32_t surface : meant) {
        gone[surface] = value.is_null();
        if (!value.is_null()) change(optics_.surfaces[surface], value);
      }
    }
    remove_surfaces(optics_, gone);
  }

  void change(OpticalSurface& surface, const JsonValue& value) {
    value.allow({"model", "finish", "type", "value", "properties", "dichroic"});
    const auto word = [&](const char* member, auto& target, auto parse, const char* choices) {
      if (!value.has(member)) return;
      const JsonValue given = value.at(member);
      const std::string text = given.is_number() ? std::to_string(given.integer()) : given.text();
      const auto parsed = parse(text);
      if (!parsed) given.fail("is '" + text + "', which is no " + member, choices);
      target = *parsed;
    };
    word("model", surface.model, surface_model,
         "it may be glisur, unified, lut, davis, dichroic, simple, thin_film, wavelength_shifting, or Geant4's number");
    word("finish", surface.finish, surface_finish,
         "it may be polished, ground, either with _front_painted or _back_painted, or Geant4's number");
    word("type", surface.type, surface_type,
         "it may be dielectric_metal, dielectric_dielectric, dielectric_lut, dielectric_lut_davis, "
         "dielectric_dichroic, firsov, x_ray, coated, or Geant4's number");
    if (value.has("value")) surface.value = value.at("value").number();
    if (value.has("properties")) change(surface.properties, value.at("properties"), PropertyOf::surface);
    if (value.has("dichroic")) dichroic(surface, value.at("dichroic"));
  }

  void dichroic(OpticalSurface& surface, const JsonValue& angles) {
    surface.dichroic.clear();
    const PropertyInfo probability{"", PropertyOf::surface, true, PropertyInfo::Quantity::probability, ""};
    for (const JsonValue& one : angles.is_null() ? std::vector<JsonValue>() : angles.elements()) {
      one.allow({"degrees", "radians", "reflect", "transmit"});
      if (one.has("degrees") == one.has("radians")) one.fail("needs an angle", "give 'degrees' or 'radians'");
      const double radians = one.has("radians") ? one.at("radians").number() : degrees(one.at("degrees").number());
      if (!(radians >= 0 && radians < std::numbers::pi / 2))
        one.fail("has an angle of " + std::to_string(radians) + " radians, and it must be from 0 to less than pi/2");
      if (!surface.dichroic.empty() && radians <= surface.dichroic.back().radians)
        one.fail("has an angle that is not above the one before", "sort the angles, each once");
      surface.dichroic.push_back({radians, tables_.table("dichroic reflect", one.at("reflect"), &probability),
                                  tables_.table("dichroic transmit", one.at("transmit"), &probability)});
    }
  }

  static double degrees(double value) { return value * std::numbers::pi / 180; }

  void assignments(const JsonValue& all) {
    NameIndex index;
    for (const OpticalSurface& surface : optics_.surfaces) index.add(surface.name);
    for (const JsonValue& one : all.elements()) {
      one.allow({"name", "surface", "skin", "border"});
      if (one.has("skin") == one.has("border")) one.fail("needs a place", "give either 'skin' or 'border'");
      SurfaceAssignment assignment;
      assignment.name = one.has("name") ? one.at("name").text() : one.path();
      assignment.surface = reference(one.at("surface"), index, "surface");
      if (one.has("skin")) {
        assignment.from = selector(one.at("skin"));
      } else {
        const JsonValue border = one.at("border");
        border.allow({"from", "to"});
        assignment.kind = SurfaceAssignment::Kind::border;
        assignment.from = selector(border.at("from"));
        assignment.to = selector(border.at("to"));
      }
      optics_.assignments.push_back(std::move(assignment));
    }
  }

  /// The number of what a name refers to.
  static std::uint32_t reference(const JsonValue& value, const NameIndex& index, const std::string& what) {
    const std::string name = value.text();
    const std::vector<std::uint32_t> meant = index.meant(literal_pattern(name));
    if (meant.empty())
      value.fail("is '" + name + "', and no " + what + " is called so" + base::did_you_mean(name, index.names()));
    if (meant.size() > 1)
      value.fail("is '" + name + "', and " + std::to_string(meant.size()) + ' ' + what + "s are called so",
                 "give the whole name, with its pointer");
    return meant.front();
  }

  static SolidSelector selector(const JsonValue& value) {
    value.allow({"solid", "volume", "mesh", "material", "path", "copy_number"});
    SolidSelector selector;
    const std::array<std::pair<const char*, std::string*>, 5> patterns{{{"solid", &selector.solid},
                                                                        {"volume", &selector.volume},
                                                                        {"mesh", &selector.mesh},
                                                                        {"material", &selector.material},
                                                                        {"path", &selector.path}}};
    for (const auto& [member, target] : patterns) {
      if (!value.has(member)) continue;
      *target = value.at(member).text();
      if (target->empty()) value.at(member).fail("is empty", "take it out, or write \"*\" for any name");
    }
    if (value.has("copy_number")) selector.copy_number = value.at("copy_number").integer();
    return selector;
  }

  void channel_types(const JsonValue& all) {
    for (const auto& [name, value] : all.members()) {
      ChannelType type = channel_type(name, value);
      const auto found = std::find_if(optics_.channel_types.begin(), optics_.channel_types.end(),
                                      [&name = name](const ChannelType& one) { return one.name == name; });
      if (found == optics_.channel_types.end())
        optics_.channel_types.push_back(std::move(type));
      else
        *found = std::move(type);
    }
  }

  ChannelType channel_type(const std::string& name, const JsonValue& value) {
    value.allow({"efficiency", "angle_degrees", "angle_radians", "angle_efficiency", "time", "charge"});
    ChannelType type;
    type.name = name;
    const PropertyInfo probability{"", PropertyOf::surface, true, PropertyInfo::Quantity::probability, ""};
    if (value.has("efficiency")) type.efficiency = tables_.table("efficiency", value.at("efficiency"), &probability);
    const bool in_degrees = value.has("angle_degrees");
    if (in_degrees && value.has("angle_radians"))
      value.fail("has angles in degrees and in radians", "give one of them");
    if (in_degrees || value.has("angle_radians")) {
      const JsonValue angles = value.at(in_degrees ? "angle_degrees" : "angle_radians");
      type.angles = ascending(angles);
      if (type.angles.empty() || type.angles.front() < 0 || type.angles.back() > (in_degrees ? 180 : std::numbers::pi))
        angles.fail("must be from 0 to " + std::string(in_degrees ? "180" : "pi") + ", at least one");
      if (in_degrees)
        for (double& angle : type.angles) angle = degrees(angle);
      type.angle_efficiency = weights(value.at("angle_efficiency"), type.angles.size(), 1);
    } else if (value.has("angle_efficiency")) {
      value.fail("has 'angle_efficiency' without angles", "give 'angle_degrees'");
    }
    if (value.has("time")) type.time = distribution(value.at("time"), "ns");
    if (value.has("charge")) type.charge = distribution(value.at("charge"), "pe");
    return type;
  }

  static std::vector<double> ascending(const JsonValue& list) {
    std::vector<double> values = list.numbers();
    for (std::size_t i = 1; i < values.size(); ++i)
      if (values[i] <= values[i - 1]) list.elements()[i].fail("is not above the one before", "sort them, each once");
    return values;
  }

  /// From 0 to `most`.
  static std::vector<double> weights(const JsonValue& list, std::size_t count, double most) {
    std::vector<double> values = list.numbers();
    if (values.size() != count)
      list.fail("has " + std::to_string(values.size()) + " values for " + std::to_string(count) + " points");
    for (std::size_t i = 0; i != values.size(); ++i)
      if (!(values[i] >= 0 && values[i] <= most))
        list.elements()[i].fail(std::string("must ") + (most == 1 ? "be from 0 to 1" : "not be negative"));
    return values;
  }

  static ChannelType::Distribution distribution(const JsonValue& value, const char* axis) {
    value.allow({axis, "density"});
    ChannelType::Distribution result;
    result.at = ascending(value.at(axis));
    if (result.at.size() < 2) value.at(axis).fail("has less than two points, and a distribution needs two");
    result.density = weights(value.at("density"), result.at.size(), HUGE_VAL);
    if (std::all_of(result.density.begin(), result.density.end(), [](double one) { return one == 0; }))
      value.at("density").fail("is zero everywhere");
    return result;
  }

  void channels(const JsonValue& all) {
    NameIndex index;
    for (const ChannelType& type : optics_.channel_types) index.add(type.name);
    for (const JsonValue& one : all.elements()) {
      one.allow({"solids", "type", "first"});
      ChannelAssignment assignment;
      assignment.solids = selector(one.at("solids"));
      if (one.has("type")) assignment.type = reference(one.at("type"), index, "channel type");
      if (one.has("first")) assignment.first = one.at("first").integer();
      optics_.channel_assignments.push_back(std::move(assignment));
    }
  }

  Scene& scene_;
  Optics& optics_;
  TableReader tables_;
};

constexpr std::size_t kMaxFiles = 1000;

/// Collects the members "csv" of a text, whatever holds them, without a tree of its values.
class CsvNames : public JsonEvents {
 public:
  explicit CsvNames(const std::string& file) : file_(file) {}

  [[nodiscard]] std::vector<std::string> take() { return std::move(names_); }

  bool key(std::string& name) override { return next(name == "csv"); }
  bool string(std::string& text) override {
    if (named_ && seen_.insert(text).second) names_.push_back(text);
    if (names_.size() > kMaxFiles)
      throw Error(ErrorKind::limit, "the sidecar refers to more than " + std::to_string(kMaxFiles) + " files",
                  {file_, ""});
    return next(false);
  }
  bool start_object(std::size_t /*members*/) override { return next(false); }
  bool end_object() override { return next(false); }
  bool start_array(std::size_t /*elements*/) override { return next(false); }

 private:
  bool next(bool named) {
    named_ = named;
    return true;
  }

  const std::string& file_;
  bool named_ = false;  // the value that follows is a member "csv"
  std::set<std::string> seen_;
  std::vector<std::string> names_;
};

}  // namespace

void read_sidecar(Scene& scene, const std::string& text, const std::string& file, const ReadFile& read) {
  const Json root = parse_json(text, file);
  Sidecar(scene, read).read(JsonValue(root, "", file));
}

std::vector<std::string> files_of_sidecar(const std::string& text, const std::string& file) {
  CsvNames names(file);
  visit_json(text, file, names);
  return names.take();
}

}  // namespace raylift::detail
