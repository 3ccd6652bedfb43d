// SPDX-License-Identifier: Apache-2.0
#include "optics_text.h"

#include <fmt/format.h>
#include <raylift/geometry/optics/light.h>
#include <raylift/geometry/optics/words.h>

#include <algorithm>
#include <utility>

#include "cli/table.h"
#include "cli/text.h"
#include "geometry/src/optics/property_table.h"
#include "geometry/src/scene/names.h"

namespace raylift::batch {
using namespace cli;
namespace {

/// How many solids or pairs use something, and the names of the first ones, each once.
struct OpticsUse {
  std::uint64_t solids = 0;
  std::uint64_t pairs = 0;
  std::vector<std::string> names;

  /// "12: pvPmt, pvTank, ...".
  [[nodiscard]] std::string text() const;
};

struct OpticsUses {
  std::vector<OpticsUse> materials, surfaces, assignments, channel_types;
};

constexpr std::size_t kMaxNames = 5;

void add_name(OpticsUse& use, const std::string& name) {
  const std::string base(base_name(name));
  if (use.names.size() != kMaxNames && std::find(use.names.begin(), use.names.end(), base) == use.names.end())
    use.names.push_back(base);
}

std::string OpticsUse::text() const {
  std::string text;
  if (solids != 0 || pairs == 0) text = counted(solids, "solid", "solids");
  if (pairs != 0) text += (text.empty() ? "" : ", ") + counted(pairs, "pair", "pairs");
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? ": " : ", ") + name;
  return text + list + (solids + 2 * pairs > names.size() && names.size() == kMaxNames ? ", ..." : "");
}

/// By index. A solid uses a material that is in any of its parts, and a surface whose skin holds on it; a pair uses
/// that of its border.
OpticsUses optics_uses(const Scene& scene) {
  const Optics& optics = scene.optics;
  OpticsUses uses;
  uses.materials.resize(scene.materials.size());
  uses.surfaces.resize(optics.surfaces.size());
  uses.assignments.resize(optics.assignments.size());
  uses.channel_types.resize(optics.channel_types.size());
  const auto name = [&](std::uint32_t solid) -> const std::string& { return scene.solid_name(scene.instances[solid]); };
  for (std::uint32_t solid = 0; solid != scene.instances.size(); ++solid) {
    const std::vector<std::uint32_t>& parts = scene.bindings[scene.instances[solid].binding];
    for (auto part = parts.begin(); part != parts.end(); ++part) {
      if (*part == kNone || std::find(parts.begin(), part, *part) != part) continue;
      ++uses.materials[*part].solids;
      add_name(uses.materials[*part], name(solid));
    }
    if (optics.skins.empty() || optics.skins[solid] == kNone) continue;
    for (OpticsUse* use :
         {&uses.assignments[optics.skins[solid]], &uses.surfaces[optics.assignments[optics.skins[solid]].surface]}) {
      ++use->solids;
      add_name(*use, name(solid));
    }
  }
  for (const Optics::Border& border : optics.borders)
    for (OpticsUse* use :
         {&uses.assignments[border.assignment], &uses.surfaces[optics.assignments[border.assignment].surface]}) {
      ++use->pairs;
      add_name(*use, name(border.from));
      add_name(*use, name(border.to));
    }
  for (const Optics::Channel& channel : optics.channels)
    if (channel.type != kNone) {
      ++uses.channel_types[channel.type].solids;
      add_name(uses.channel_types[channel.type], name(channel.solid));
    }
  return uses;
}

std::string between(double least, double most) {
  return least == most ? short_number(least) : short_number(least) + " .. " + short_number(most);
}

std::string unit_of(const PropertyInfo* info) {
  return info == nullptr ? "" : std::string(unit(info->quantity));
}

/// By which model, or that it is not.
std::string honoured(const PropertyInfo* info) {
  if (info == nullptr) return "no: unknown";
  return info->honoured.empty() ? "no" : std::string(info->honoured);
}

class PropertyTable {
 public:
  explicit PropertyTable(PropertyOf of)
      : of_(of),
        table_({{of == PropertyOf::material ? "material" : "surface", Align::left},
                {"property", Align::left},
                {"values"},
                {"unit", Align::left},
                {"over, nm"},
                {"points"},
                {"honoured by", Align::left}}) {}

  /// The owner's name stands in its first row.
  void add(std::string owner, const OpticalProperties& properties) {
    const bool computed = of_ == PropertyOf::material && has_computed_rayleigh(owner, properties);
    const auto row = [&](const std::string& key, std::vector<std::string> cells) {
      const PropertyInfo* info = find_property(of_, key);
      table_.add({std::exchange(owner, ""), key, cells[0], unit_of(info), cells[1], cells[2],
                  honoured(info) + (computed && key == "RAYLEIGH" ? ", computed from RINDEX" : "")});
    };
    for (const OpticalTable& table : properties.tables) {
      const OpticalTable::Range range = table.range();
      row(table.key,
          {between(range.least, range.most), between(range.shortest_nm, range.longest_nm), grouped(table.at.size())});
    }
    for (const OpticalProperties::Constant& constant : properties.constants)
      row(constant.key, {short_number(constant.value), "", ""});
    if (!owner.empty()) table_.add({owner, "(none)", "", "", "", "", ""});
  }
  [[nodiscard]] bool empty() const { return table_.empty(); }
  [[nodiscard]] std::string text() const { return table_.text(2); }

 private:
  PropertyOf of_;
  Table table_;
};

std::string selector_text(const SolidSelector& selector) {
  std::string text;
  const auto add = [&](const char* what, const std::string& pattern) {
    if (!pattern.empty()) text += (text.empty() ? "" : ", ") + std::string(what) + ' ' + pattern;
  };
  add("solid", selector.solid);
  add("volume", selector.volume);
  add("mesh", selector.mesh);
  add("material", selector.material);
  add("path", selector.path);
  if (selector.copy_number) add("copy", std::to_string(*selector.copy_number));
  return text.empty() ? "all" : text;
}

const char* word(SurfaceAssignment::Kind kind) {
  return kind == SurfaceAssignment::Kind::skin ? "skin" : "border";
}

std::string materials_text(const Scene& scene, const OpticsUses& uses) {
  PropertyTable properties(PropertyOf::material);
  Table users({{"material", Align::left}, {"used by", Align::left}});
  for (std::size_t i = 0; i != scene.optics.materials.size(); ++i) {
    properties.add(scene.materials[i].name, scene.optics.materials[i]);
    users.add({scene.materials[i].name, uses.materials[i].text()});
  }
  if (properties.empty()) return "";
  return "\nmaterials\n" + users.text(2) + "\nproperties of materials\n" + properties.text();
}

std::string surfaces_text(const Scene& scene, const OpticsUses& uses) {
  PropertyTable properties(PropertyOf::surface);
  Table surfaces({{"surface", Align::left},
                  {"model", Align::left},
                  {"finish", Align::left},
                  {"type", Align::left},
                  {"value"},
                  {"used by", Align::left}});
  for (std::size_t i = 0; i != scene.optics.surfaces.size(); ++i) {
    const OpticalSurface& surface = scene.optics.surfaces[i];
    surfaces.add({surface.name, std::string(to_string(surface.model)), to_string(surface.finish),
                  std::string(to_string(surface.type)), short_number(surface.value), uses.surfaces[i].text()});
    OpticalProperties all = surface.properties;
    for (const OpticalSurface::DichroicAngle& angle : surface.dichroic)
      for (const OpticalTable* table : {&angle.reflect, &angle.transmit}) {
        all.tables.push_back(*table);
        all.tables.back().key += fmt::format(" at {} deg", short_number(angle.radians * 57.29577951308232));
      }
    properties.add(surface.name, all);
  }
  if (surfaces.empty()) return "";
  return "\nsurfaces\n" + surfaces.text(2) + "\nproperties of surfaces\n" + properties.text();
}

std::string assignments_text(const Scene& scene, const OpticsUses& uses) {
  Table table({{"assignment", Align::left},
               {"", Align::left},
               {"surface", Align::left},
               {"from", Align::left},
               {"to", Align::left},
               {"holds on", Align::left}});
  for (std::size_t i = 0; i != scene.optics.assignments.size(); ++i) {
    const SurfaceAssignment& one = scene.optics.assignments[i];
    const bool border = one.kind == SurfaceAssignment::Kind::border;
    table.add({one.name, word(one.kind), scene.optics.surfaces[one.surface].name, selector_text(one.from),
               border ? selector_text(one.to) : "",
               border ? counted(uses.assignments[i].pairs, "pair", "pairs")
                      : counted(uses.assignments[i].solids, "solid", "solids")});
  }
  return table.empty() ? "" : "\nassignments\n" + table.text(2);
}

std::string channels_text(const Scene& scene, const OpticsUses& uses) {
  const Optics& optics = scene.optics;
  if (optics.channels.empty() && optics.channel_types.empty()) return "";
  std::string text = "\nchannels\n  " + counted(optics.channels.size(), "solid detects", "solids detect");
  if (!optics.channels.empty()) {
    const auto [first, last] =
        std::minmax_element(optics.channels.begin(), optics.channels.end(),
                            [](const Optics::Channel& a, const Optics::Channel& b) { return a.number < b.number; });
    text += fmt::format(", channels {} to {}", first->number, last->number);
  }
  text += '\n';
  for (std::size_t i = 0; i != optics.channel_types.size(); ++i)
    text += "  " + printable(optics.channel_types[i].name) + ": " + printable(uses.channel_types[i].text()) + '\n';
  return text;
}

Json properties_json(const OpticalProperties& properties, PropertyOf of) {
  Json json = {{"tables", Json::array()}, {"constants", Json::array()}};
  const auto facts = [of](Json& one, const std::string& key) {
    const PropertyInfo* info = find_property(of, key);
    one["unit"] = unit_of(info);
    one["honoured_by"] = info == nullptr || info->honoured.empty() ? Json() : Json(info->honoured);
  };
  for (const OpticalTable& table : properties.tables) {
    const OpticalTable::Range range = table.range();
    Json one = {{"key", table.key},
                {"points", table.at.size()},
                {"min", range.least},
                {"max", range.most},
                {"wavelength_nm", Json::array({range.shortest_nm, range.longest_nm})}};
    facts(one, table.key);
    json["tables"].push_back(std::move(one));
  }
  for (const OpticalProperties::Constant& constant : properties.constants) {
    Json one = {{"key", constant.key}, {"value", constant.value}};
    facts(one, constant.key);
    json["constants"].push_back(std::move(one));
  }
  return json;
}

Json use_json(const OpticsUse& use) {
  return {{"solids", use.solids}, {"pairs", use.pairs}, {"names", use.names}};
}

/// The tables that don't cover the light that the scene emits.
std::string uncovered_text(const Scene& scene) {
  std::string text;
  for (const std::string& one : describe(uncovered_tables(scene, emitted_light(scene, true, true))))
    text += "  " + printable(one) + '\n';
  return text.empty() ? "" : "\nlight beyond tables\n" + text;
}

}  // namespace

std::string optics_text(const Scene& scene) {
  if (scene.optics.empty()) return "\noptics: none\n";
  const OpticsUses uses = optics_uses(scene);
  return materials_text(scene, uses) + surfaces_text(scene, uses) + assignments_text(scene, uses) +
         channels_text(scene, uses) + uncovered_text(scene);
}

Json optics_summary(const Scene& scene) {
  const Optics& optics = scene.optics;
  if (optics.empty()) return {};
  const OpticsUses uses = optics_uses(scene);
  Json json = {{"materials", Json::array()},     {"surfaces", Json::array()},          {"assignments", Json::array()},
               {"channel_types", Json::array()}, {"channels", optics.channels.size()}, {"uncovered", Json::array()}};
  for (const UncoveredTable& table : uncovered_tables(scene, emitted_light(scene, true, true)))
    json["uncovered"].push_back({{"owner", table.owner},
                                 {"key", table.key},
                                 {"from_nm", table.range.shortest_nm},
                                 {"to_nm", table.range.longest_nm},
                                 {"light_nm", table.wavelength_nm},
                                 {"light", table.from}});
  for (std::size_t i = 0; i != optics.materials.size(); ++i)
    json["materials"].push_back({{"name", scene.materials[i].name},
                                 {"used_by", use_json(uses.materials[i])},
                                 {"properties", properties_json(optics.materials[i], PropertyOf::material)}});
  for (std::size_t i = 0; i != optics.surfaces.size(); ++i) {
    const OpticalSurface& surface = optics.surfaces[i];
    json["surfaces"].push_back({{"name", surface.name},
                                {"model", to_string(surface.model)},
                                {"finish", to_string(surface.finish)},
                                {"type", to_string(surface.type)},
                                {"value", surface.value},
                                {"dichroic_angles", surface.dichroic.size()},
                                {"used_by", use_json(uses.surfaces[i])},
                                {"properties", properties_json(surface.properties, PropertyOf::surface)}});
  }
  for (std::size_t i = 0; i != optics.assignments.size(); ++i) {
    const SurfaceAssignment& one = optics.assignments[i];
    json["assignments"].push_back({{"name", one.name},
                                   {"kind", word(one.kind)},
                                   {"surface", optics.surfaces[one.surface].name},
                                   {"holds_on", use_json(uses.assignments[i])}});
  }
  for (std::size_t i = 0; i != optics.channel_types.size(); ++i)
    json["channel_types"].push_back(
        {{"name", optics.channel_types[i].name}, {"used_by", use_json(uses.channel_types[i])}});
  return json;
}

std::string unhonoured_text(const Scene& scene) {
  Table table({{"", Align::left}, {"of", Align::left}, {"property", Align::left}, {"why", Align::left}});
  for (const UnhonouredProperty& one : unhonoured_properties(scene))
    table.add({one.of == PropertyOf::material ? "material" : "surface", one.owner, one.key, one.why});
  return table.empty() ? "" : "\noptical properties that are not honoured\n" + table.text(2);
}

Json unhonoured_json(const std::vector<UnhonouredProperty>& all, std::size_t most) {
  Json json = Json::array();
  for (const UnhonouredProperty& one : all) {
    if (json.size() == most) break;
    json.push_back({{"of", one.of == PropertyOf::material ? "material" : "surface"},
                    {"owner", one.owner},
                    {"key", one.key},
                    {"why", one.why}});
  }
  return json;
}

}  // namespace raylift::batch
