// SPDX-License-Identifier: Apache-2.0
#include "draw/legends.h"

#include <raylift/geometry/scene/names.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "draw/overlay.h"
#include "light/photon_colors.h"
#include "meshes/draw_list.h"
#include "model/palette.h"

namespace raylift::viewer {
namespace {

/// How many visible solids have each of the kinds that `kinds` gives for a solid.
template <class Kinds>
std::vector<std::pair<std::uint32_t, std::uint64_t>> count(const Scene& scene, std::span<const std::uint8_t> looks,
                                                           const Kinds& kinds) {
  std::map<std::uint32_t, std::uint64_t> counts;
  for (std::uint32_t i = 0; i != scene.instances.size(); ++i)
    if (looks.empty() || looks[i] != static_cast<std::uint8_t>(Look::hidden))
      for (const std::uint32_t kind : kinds(i)) ++counts[kind];
  return {counts.begin(), counts.end()};
}

/// Removes Geant4's pointers behind names that are unique without them.
void shorten_names(std::vector<Legend::Entry>& entries) {
  std::map<std::string, int> counts;
  for (const Legend::Entry& entry : entries) ++counts[std::string(base_name(entry.name))];
  for (Legend::Entry& entry : entries)
    if (std::string name(base_name(entry.name)); counts[name] == 1) entry.name = std::move(name);
}

}  // namespace

Legend make_legend(const Scene& scene, const Settings& settings, std::span<const std::uint8_t> looks,
                   std::optional<std::pair<double, double>> depths, std::size_t most) {
  Legend legend;
  const auto distinct = [](std::uint32_t key) { return distinct_color(key % kDistinctColors); };
  if (settings.ray_cast == RayMode::depth) {
    legend.title = "depth";
    add_ramp(legend);
    std::reverse(legend.ramp.begin(), legend.ramp.end());  // near is yellow
    if (!depths) return legend;
    for (int i = 0; i <= 2; ++i)
      legend.labels.push_back(rounded_length_text(depths->first + 0.5 * i * (depths->second - depths->first)));
  } else if (settings.ray_cast == RayMode::crossings) {
    legend.title = "crossings";
    add_ramp(legend);
    legend.labels = {"1", "2", "4", "8", "16", "32", "64"};
  } else if (settings.ray_cast == RayMode::normal || settings.color == ColorBy::normal) {
    legend.title = "outward normal";
    legend.entries = {{{1, 0.5F, 0.5F}, "+x", 0}, {{0, 0.5F, 0.5F}, "-x", 0}, {{0.5F, 1, 0.5F}, "+y", 0},
                      {{0.5F, 0, 0.5F}, "-y", 0}, {{0.5F, 0.5F, 1}, "+z", 0}, {{0.5F, 0.5F, 0}, "-z", 0}};
  } else if (settings.ray_cast == RayMode::solid || settings.color == ColorBy::solid) {
    legend.title = "solids";
    const auto each = [](std::uint32_t i) { return std::array{i}; };
    legend.add_counted(count(scene, looks, each), most, [&](std::uint32_t i) {
      return Legend::Entry{distinct(i), scene.solid_name(scene.instances[i]), 0};
    });
    for (Legend::Entry& entry : legend.entries) entry.solids = 0;
  } else if (settings.color == ColorBy::mesh) {
    legend.title = "meshes";
    const auto mesh_of = [&](std::uint32_t i) { return std::array{scene.instances[i].mesh}; };
    legend.add_counted(count(scene, looks, mesh_of), most, [&](std::uint32_t mesh) {
      return Legend::Entry{distinct(mesh), scene.meshes[mesh].name, 0};
    });
  } else if (settings.color == ColorBy::residency) {
    legend.title = "residency";
    legend.entries = {{kDeviceColor, "device memory", 0}, {kHostColor, "host memory", 0}};
  } else if (settings.color == ColorBy::surface) {
    legend.title = "optical surfaces";
    const std::vector<std::uint32_t> surfaces = surfaces_of_solids(scene);
    const auto surface_of = [&](std::uint32_t i) { return std::array{surfaces.empty() ? kNone : surfaces[i]}; };
    legend.add_counted(count(scene, looks, surface_of), most, [&](std::uint32_t surface) {
      return surface == kNone ? Legend::Entry{kNoMaterialColor, "none", 0}
                              : Legend::Entry{distinct(surface), scene.optics.surfaces[surface].name, 0};
    });
  } else {
    legend.title = "materials";
    const std::vector<std::uint32_t> palette = material_palette(scene);
    const auto materials_of = [&](std::uint32_t i) {
      std::set<std::uint32_t> materials;
      for (std::size_t part = 0; part != scene.meshes[scene.instances[i].mesh].parts.size(); ++part)
        materials.insert(scene.material(scene.instances[i], part));
      return materials;
    };
    legend.add_counted(count(scene, looks, materials_of), most, [&](std::uint32_t material) {
      return material == kNone ? Legend::Entry{kNoMaterialColor, "none", 0}
                               : Legend::Entry{unpacked(palette[material]), scene.materials[material].name, 0};
    });
  }
  shorten_names(legend.entries);
  return legend;
}

std::vector<Legend> make_legends(const Scene& scene, const Settings& settings, std::span<const std::uint8_t> looks,
                                 std::optional<std::pair<double, double>> depths, const Photons& photons,
                                 const std::optional<SolidHits>& hits, std::size_t most) {
  constexpr std::size_t kMaxOfLight = 12;
  std::vector<Legend> legends;
  const bool drawn = settings.ray_cast == RayMode::off;
  legends.push_back(settings.colors_hits() && drawn ? hit_legend(hits.value_or(SolidHits()), settings.color)
                                                    : make_legend(scene, settings, looks, depths, most));
  if (photons.set() && drawn)
    legends.push_back(photon_legend(*photons.set(), photons.choice(settings.photons.filter), scene,
                                    settings.photons.color, std::min(most, kMaxOfLight)));
  std::erase_if(legends, [](const Legend& legend) { return legend.title.empty(); });
  return legends;
}

}  // namespace raylift::viewer
