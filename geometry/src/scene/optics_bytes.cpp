// SPDX-License-Identifier: Apache-2.0
#include "scene/optics_bytes.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace raylift::detail {
namespace {

bool finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

bool ascending(const std::vector<double>& values) {
  return finite(values) &&
         std::adjacent_find(values.begin(), values.end(), [](double a, double b) { return a >= b; }) == values.end();
}

bool sound(const OpticalTable& table) {
  return table.axis <= OpticalTable::Axis::wavelength_nm && !table.at.empty() &&
         table.at.size() == table.values.size() && table.at.front() > 0 && ascending(table.at) && finite(table.values);
}

bool sound(const OpticalProperties& properties) {
  return std::all_of(properties.tables.begin(), properties.tables.end(),
                     [](const OpticalTable& table) { return sound(table); }) &&
         std::all_of(properties.constants.begin(), properties.constants.end(),
                     [](const OpticalProperties::Constant& constant) { return std::isfinite(constant.value); });
}

bool sound(const OpticalSurface& surface) {
  const auto good = [](const OpticalSurface::DichroicAngle& angle) {
    return std::isfinite(angle.radians) && sound(angle.reflect) && sound(angle.transmit);
  };
  return surface.model <= SurfaceModel::wavelength_shifting && surface.type <= SurfaceType::coated &&
         std::isfinite(surface.value) && sound(surface.properties) &&
         std::all_of(surface.dichroic.begin(), surface.dichroic.end(), good);
}

bool sound(const ChannelType::Distribution& distribution) {
  return distribution.at.size() == distribution.density.size() && ascending(distribution.at) &&
         finite(distribution.density);
}

bool sound(const ChannelType& type) {
  return (!type.efficiency || sound(*type.efficiency)) && type.angles.size() == type.angle_efficiency.size() &&
         ascending(type.angles) && finite(type.angle_efficiency) && sound(type.time) && sound(type.charge);
}

}  // namespace

void check_optics(const Scene& scene, const std::function<void(const std::string& what)>& failure) {
  const Optics& optics = scene.optics;
  const auto expect = [&](bool good, const char* what) {
    if (!good) failure(what);
  };
  const auto all = [](const auto& values, const auto& good) { return std::all_of(values.begin(), values.end(), good); };
  const auto index = [](std::uint32_t value, std::size_t count, bool may_be_none = false) {
    return value < count || (may_be_none && value == kNone);
  };
  const std::size_t solids = scene.instances.size();
  expect(optics.materials.empty() || optics.materials.size() == scene.materials.size(),
         "its materials' properties are not those of its materials");
  const auto is_sound = [](const auto& one) { return sound(one); };
  expect(all(optics.materials, is_sound), "a material's properties make no sense");
  expect(all(optics.surfaces, is_sound), "an optical surface makes no sense");
  expect(all(optics.channel_types, is_sound), "a type of channels makes no sense");
  expect(all(optics.assignments,
             [&](const SurfaceAssignment& one) {
               return one.kind <= SurfaceAssignment::Kind::border && index(one.surface, optics.surfaces.size());
             }) &&
             all(optics.channel_assignments,
                 [&](const ChannelAssignment& one) { return index(one.type, optics.channel_types.size(), true); }),
         "an assignment refers to nothing");
  const std::size_t assignments = optics.assignments.size();
  expect((optics.skins.empty() || optics.skins.size() == solids) &&
             all(optics.skins, [&](std::uint32_t one) { return index(one, assignments, true); }),
         "its skin surfaces are out of range");
  expect(all(optics.borders,
             [&](const Optics::Border& one) {
               return index(one.from, solids) && index(one.to, solids) && index(one.assignment, assignments);
             }) &&
             std::adjacent_find(optics.borders.begin(), optics.borders.end(),
                                [](const Optics::Border& a, const Optics::Border& b) {
                                  return std::pair(a.from, a.to) >= std::pair(b.from, b.to);
                                }) == optics.borders.end(),
         "its border surfaces are out of range or order");
  expect(all(optics.channels,
             [&](const Optics::Channel& one) {
               return index(one.solid, solids) && index(one.type, optics.channel_types.size(), true);
             }) &&
             std::adjacent_find(optics.channels.begin(), optics.channels.end(),
                                [](const Optics::Channel& a, const Optics::Channel& b) {
                                  return a.solid >= b.solid;
                                }) == optics.channels.end(),
         "its channels are out of range or order");
}

}  // namespace raylift::detail
