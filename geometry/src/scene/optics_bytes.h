// SPDX-License-Identifier: Apache-2.0
// Optics as bytes: a part of the description of a scene in scene_bytes.h.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <cstdint>
#include <functional>
#include <string>

namespace raylift::detail {

template <class Archive, class Numbers>
void visit_numbers(Archive& archive, Numbers& numbers) {
  archive.list(numbers, sizeof numbers[0], [&](auto& number) { archive.value(number); });
}

/// A value that may be absent: whether it is there, and itself or zero.
template <class Archive, class Optional>
void visit_optional(Archive& archive, Optional& optional) {
  std::uint32_t present = optional.has_value() ? 1 : 0;
  auto value = optional.value_or(0);
  archive.value(present);
  archive.value(value);
  if constexpr (Archive::kReads)
    if (present != 0) optional = value;
}

template <class Archive, class Table>
void visit_table(Archive& archive, Table& table) {
  archive.text(table.key);
  archive.value(table.axis);
  visit_numbers(archive, table.at);
  visit_numbers(archive, table.values);
}

template <class Archive, class Properties>
void visit_properties(Archive& archive, Properties& properties) {
  constexpr std::size_t kText = sizeof(std::uint64_t);
  archive.list(properties.tables, 3 * kText + 1, [&](auto& table) { visit_table(archive, table); });
  archive.list(properties.constants, kText + sizeof(double), [&](auto& constant) {
    archive.text(constant.key);
    archive.value(constant.value);
  });
}

template <class Archive, class Surface>
void visit_surface(Archive& archive, Surface& surface) {
  archive.text(surface.name);
  archive.value(surface.model);
  archive.value(surface.finish);
  archive.value(surface.type);
  archive.value(surface.value);
  visit_properties(archive, surface.properties);
  archive.list(surface.dichroic, sizeof(double), [&](auto& angle) {
    archive.value(angle.radians);
    visit_table(archive, angle.reflect);
    visit_table(archive, angle.transmit);
  });
}

template <class Archive, class Selector>
void visit_selector(Archive& archive, Selector& selector) {
  for (auto* text : {&selector.solid, &selector.volume, &selector.mesh, &selector.material, &selector.path})
    archive.text(*text);
  visit_optional(archive, selector.copy_number);
}

template <class Archive, class Type>
void visit_channel_type(Archive& archive, Type& type) {
  archive.text(type.name);
  std::uint32_t has_efficiency = type.efficiency ? 1 : 0;
  archive.value(has_efficiency);
  if (has_efficiency != 0) {
    if constexpr (Archive::kReads) type.efficiency.emplace();
    visit_table(archive, *type.efficiency);
  }
  visit_numbers(archive, type.angles);
  visit_numbers(archive, type.angle_efficiency);
  for (auto* distribution : {&type.time, &type.charge}) {
    visit_numbers(archive, distribution->at);
    visit_numbers(archive, distribution->density);
  }
}

/// Archive is a ByteWriter or a ByteReader.
template <class Archive, class OpticsOrConst>
void visit_optics(Archive& archive, OpticsOrConst& optics) {
  constexpr std::size_t kText = sizeof(std::uint64_t);
  archive.list(optics.materials, 2 * kText, [&](auto& material) { visit_properties(archive, material); });
  archive.list(optics.surfaces, 4 * kText, [&](auto& surface) { visit_surface(archive, surface); });
  archive.list(optics.assignments, 12 * kText, [&](auto& assignment) {
    archive.value(assignment.kind);
    archive.text(assignment.name);
    archive.value(assignment.surface);
    visit_selector(archive, assignment.from);
    visit_selector(archive, assignment.to);
  });
  archive.list(optics.channel_types, 7 * kText, [&](auto& type) { visit_channel_type(archive, type); });
  archive.list(optics.channel_assignments, 6 * kText, [&](auto& assignment) {
    visit_selector(archive, assignment.solids);
    archive.value(assignment.type);
    visit_optional(archive, assignment.first);
  });
  visit_numbers(archive, optics.skins);
  archive.list(optics.borders, 3 * sizeof(std::uint32_t), [&](auto& border) {
    for (auto* index : {&border.from, &border.to, &border.assignment}) archive.value(*index);
  });
  archive.list(optics.channels, 2 * sizeof(std::uint32_t) + sizeof(std::int64_t), [&](auto& channel) {
    archive.value(channel.solid);
    archive.value(channel.number);
    archive.value(channel.type);
  });
}

/// Calls `failure` where optics make no sense in their scene: enumerations and indices out of range, tables that are
/// not finite, positive and ascending, lists that are not in order.
void check_optics(const Scene& scene, const std::function<void(const std::string& what)>& failure);

}  // namespace raylift::detail
