// SPDX-License-Identifier: Apache-2.0
#include "sensors.h"

#include "scene/names.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "notes.h"
#include "select_solids.h"

namespace raylift::detail {
namespace {

bool above_zero(const OpticalTable* table) {
  return table != nullptr && std::any_of(table->values.begin(), table->values.end(), [](double v) { return v > 0; });
}

bool detects(const OpticalSurface& surface) {
  return above_zero(surface.properties.table("EFFICIENCY")) || above_zero(surface.properties.table("DETECT"));
}

/// Geant4 takes a REFLECTIVITY that is not stated for 1, and what is reflected is not detected: so it is stated.
OpticalSurface sensor_surface(const std::string& name, const OpticalTable& efficiency) {
  OpticalSurface surface{name, SurfaceModel::glisur, SurfaceFinish::polished, SurfaceType::dielectric_metal, 1, {}, {}};
  OpticalTable reflectivity = efficiency;
  reflectivity.key = "REFLECTIVITY";
  reflectivity.values.assign(efficiency.values.size(), 0);
  surface.properties.tables = {efficiency, std::move(reflectivity)};
  return surface;
}

void add_surfaces(Scene& scene, SolidIndex& index) {
  Optics& optics = scene.optics;
  std::vector<bool> has_skin(scene.instances.size(), false);
  for (const SurfaceAssignment& one : optics.assignments)
    if (one.kind == SurfaceAssignment::Kind::skin)
      for (const std::uint32_t solid : index.select(one.from)) has_skin[solid] = true;

  std::vector<std::uint32_t> surfaces(scene.materials.size(), kNone);
  std::set<std::string_view> volumes;
  std::vector<SurfaceAssignment> skins;
  for (std::size_t solid = 0; solid != scene.instances.size(); ++solid) {
    const Instance& instance = scene.instances[solid];
    const std::uint32_t material = scene.material(instance, 0);
    if (has_skin[solid] || material == kNone) continue;
    const OpticalTable* efficiency = optics.materials[material].table("EFFICIENCY");
    const std::string& name = scene.materials[material].name;
    const std::string& volume = scene.volume_name(instance);
    if (!above_zero(efficiency) || !volumes.insert(volume).second) continue;
    if (surfaces[material] == kNone) {
      surfaces[material] = static_cast<std::uint32_t>(optics.surfaces.size());
      optics.surfaces.push_back(sensor_surface(name, *efficiency));
    }
    SurfaceAssignment& skin = skins.emplace_back();
    skin.name = name;
    skin.surface = surfaces[material];
    skin.from.volume = literal_pattern(volume);
    skin.from.material = literal_pattern(name);
  }
  // First, so that they hold nowhere where another one does.
  optics.assignments.insert(optics.assignments.begin(), skins.begin(), skins.end());
}

void warn_of_sensor_materials(Scene& scene) {
  for (std::size_t i = 0; i != scene.materials.size(); ++i)
    if (above_zero(scene.optics.materials[i].table("EFFICIENCY")))
      scene.report.warnings.push_back("material '" + scene.materials[i].name +
                                      "': EFFICIENCY is not honoured: no sensors are made of it");
}

void add_channels(Scene& scene, SolidIndex& index) {
  Optics& optics = scene.optics;
  for (const SurfaceAssignment& one : optics.assignments) {
    if (one.surface >= optics.surfaces.size() || !detects(optics.surfaces[one.surface])) continue;
    const SolidSelector& solids = one.kind == SurfaceAssignment::Kind::skin ? one.from : one.to;
    if (!index.select(solids).empty()) optics.channel_assignments.push_back({solids, kNone, {}});
  }
}

}  // namespace

void add_sensors(Scene& scene, bool materials) {
  SolidIndex index(scene);
  if (!scene.optics.materials.empty()) {
    if (materials)
      add_surfaces(scene, index);
    else
      warn_of_sensor_materials(scene);
  }
  if (scene.optics.channel_assignments.empty() && scene.optics.channel_types.empty()) add_channels(scene, index);
}

void compare_sensitive_volumes(Scene& scene) {
  const std::vector<std::string>& marked = scene.report.sensitive_volumes;
  if (marked.empty()) return;
  std::set<std::string> detecting;
  for (const Optics::Channel& channel : scene.optics.channels)
    detecting.insert(scene.volume_name(scene.instances[channel.solid]));
  Notes notes;
  const auto note = [&](const std::string& what, const auto& from, const auto& without) {
    std::vector<std::string> names;
    std::set_difference(from.begin(), from.end(), without.begin(), without.end(), std::back_inserter(names));
    for (const std::string& name : names) notes.add(what, name);
  };
  note(
      "volumes that the file marks as sensitive detectors (SensDet), and that detect nothing: no surface or material "
      "of theirs has an EFFICIENCY",
      marked, detecting);
  note(
      "volumes that detect by an EFFICIENCY or a channel, and that the file does not mark as sensitive detectors "
      "(SensDet)",
      detecting, marked);
  for (std::string& warning : notes.warnings()) scene.report.warnings.push_back(std::move(warning));
}

}  // namespace raylift::detail
