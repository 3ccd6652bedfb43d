// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/optics/light.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "property_faults.h"
#include "property_table.h"

namespace raylift {
namespace {

/// Calls see(owner, properties, of, surface) for the materials that are in solids, and for the surfaces that are
/// assigned. `surface` is null for a material.
template <class See>
void for_each_used(const Scene& scene, const See& see) {
  const Optics& optics = scene.optics;
  std::vector<bool> in_solids(scene.materials.size(), false);
  for (const Instance& instance : scene.instances)
    for (const std::uint32_t material : scene.bindings[instance.binding])
      if (material != kNone) in_solids[material] = true;
  for (std::size_t i = 0; i != optics.materials.size(); ++i)
    if (in_solids[i])
      see(property_owner(PropertyOf::material, scene.materials[i].name), optics.materials[i], PropertyOf::material,
          static_cast<const OpticalSurface*>(nullptr));
  const std::vector<bool> assigned = detail::assigned_surfaces(optics);
  for (std::size_t i = 0; i != optics.surfaces.size(); ++i)
    if (assigned[i])
      see(property_owner(PropertyOf::surface, optics.surfaces[i].name), optics.surfaces[i].properties,
          PropertyOf::surface, &optics.surfaces[i]);
}

/// Whether photons look a table up as they fly.
bool is_looked_up(const OpticalTable& table, PropertyOf of) {
  const PropertyInfo* const info = find_property(of, table.key);
  if (info == nullptr || info->honoured.empty() || info->quantity == PropertyInfo::Quantity::weight || table.at.empty())
    return false;
  return of != PropertyOf::material || table.key != "EFFICIENCY";  // a surface has been made of it
}

/// Whether light of a spectrum is emitted: the properties that it goes with.
bool emits(const OpticalProperties& properties, std::string_view spectrum, PropertyOf of, bool scintillation) {
  const auto has = [&](std::string_view key) { return properties.table(key) != nullptr; };
  if (of == PropertyOf::surface) return has("REEMISSIONPROB");
  if (spectrum == "WLSCOMPONENT") return has("WLSABSLENGTH");
  if (spectrum == "WLSCOMPONENT2") return has("WLSABSLENGTH2");
  // Geant4's older names have no effect beside the newer ones.
  if (spectrum == "FASTCOMPONENT" && has("SCINTILLATIONCOMPONENT1")) return false;
  if (spectrum == "SLOWCOMPONENT" && has("SCINTILLATIONCOMPONENT2")) return false;
  return scintillation || has("REEMISSIONPROB");
}

}  // namespace

std::vector<Light> emitted_light(const Scene& scene, bool scintillation, bool cerenkov) {
  std::vector<Light> light;
  for_each_used(scene, [&](const std::string& owner, const OpticalProperties& properties, PropertyOf of, const auto*) {
    for (const OpticalTable& table : properties.tables) {
      const PropertyInfo* const info = find_property(of, table.key);
      if (info == nullptr || table.at.empty()) continue;
      const OpticalTable::Range range = table.range();
      const bool by_index = of == PropertyOf::material && table.key == "RINDEX" && cerenkov && range.most > 1;
      const bool by_spectrum =
          info->quantity == PropertyInfo::Quantity::weight && emits(properties, table.key, of, scintillation);
      if (by_index || by_spectrum)
        light.push_back(
            {range.shortest_nm, range.longest_nm, (by_index ? "Cerenkov light by " : "") + table.key + " of " + owner});
    }
  });
  return light;
}

std::vector<UncoveredTable> uncovered_tables(const Scene& scene, std::span<const Light> light) {
  std::vector<UncoveredTable> uncovered;
  const auto look = [&](const std::string& owner, const std::string& key, const OpticalTable& table) {
    if (table.at.empty()) return;
    const OpticalTable::Range range = table.range();
    // The same decimal number in eV and in nm is one wavelength.
    constexpr double kRounding = 1e-6;
    double farthest = 1 + kRounding;
    UncoveredTable found;
    for (const Light& one : light) {
      if (const double ratio = range.shortest_nm / one.shortest_nm; ratio > farthest) {
        farthest = ratio;
        found = {owner, key, range, one.shortest_nm, one.from};
      }
      if (const double ratio = one.longest_nm / range.longest_nm; ratio > farthest) {
        farthest = ratio;
        found = {owner, key, range, one.longest_nm, one.from};
      }
    }
    if (!found.from.empty()) uncovered.push_back(found);
  };
  for_each_used(scene, [&](const std::string& owner, const OpticalProperties& properties, PropertyOf of,
                           const OpticalSurface* surface) {
    for (const OpticalTable& table : properties.tables)
      if (is_looked_up(table, of)) look(owner, table.key, table);
    if (surface == nullptr || surface->dichroic.empty()) return;
    // All angles mostly have the same points: the first one stands for them.
    look(owner, "dichroic reflect", surface->dichroic.front().reflect);
    look(owner, "dichroic transmit", surface->dichroic.front().transmit);
  });
  for (const ChannelType& type : scene.optics.channel_types)
    if (type.efficiency) look("channel type '" + type.name + "'", "efficiency", *type.efficiency);
  return uncovered;
}

std::vector<std::string> describe(std::span<const UncoveredTable> tables) {
  const auto text = [](double nm) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.6g", nm);
    return std::string(digits);
  };
  std::vector<std::string> sentences;
  for (std::size_t begin = 0, end = 0; begin != tables.size(); begin = end) {
    // The tables of an owner follow each other.
    std::vector<std::pair<std::string, std::string>> ranges;  // what is said of one, and the keys that have it
    for (; end != tables.size() && tables[end].owner == tables[begin].owner; ++end) {
      const UncoveredTable& table = tables[end];
      const std::string range = " are from " + text(table.range.shortest_nm) + " to " + text(table.range.longest_nm) +
                                " nm, and there is light of " + text(table.wavelength_nm) + " nm (" + table.from +
                                "): beyond them, the value at the end holds";
      const auto same = std::find_if(ranges.begin(), ranges.end(), [&](const auto& one) { return one.first == range; });
      if (same == ranges.end())
        ranges.emplace_back(range, table.key);
      else
        same->second += ", " + table.key;
    }
    for (const auto& [range, keys] : ranges)
      sentences.emplace_back(tables[begin].owner).append(": the points of ").append(keys).append(range);
  }
  return sentences;
}

}  // namespace raylift
