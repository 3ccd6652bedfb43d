// SPDX-License-Identifier: Apache-2.0
// A small scene without optics, for tests of the optics that are added to it.
#pragma once

#include <raylift/geometry/optics/surface_between.h>
#include <raylift/geometry/scene/scene.h>

namespace raylift::test {

/// World > tank > {two sensors of one volume}, as Geant4's exporters name them.
inline Scene tank_scene() {
  Scene scene;
  scene.source = "tank.dae";
  scene.meshes = {{"box", {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}}, {{0, 1}}}};
  scene.materials = {{"Air0x1f0", {}}, {"Water0x2f0", {}}, {"__dd__Glass0x3f0", {}}};
  scene.bindings = {{0}, {1}, {2}};
  scene.volumes = {"lvWorld0x10", "lvTank0x20", "lvPmt0x30"};
  scene.nodes = {
      {"pvWorld0x11", kNone, {}, 0}, {"pvTank0x21", 0, {}, 1}, {"pvPmt0x31", 1, 7, 2}, {"pvPmt0x32", 1, 9, 2}};
  for (std::uint32_t i = 0; i != 4; ++i) {
    Instance instance;
    instance.node = i;
    instance.binding = i < 2 ? i : 2;
    scene.instances.push_back(instance);
  }
  return scene;
}

/// A border surface between its two sensors, "Foil".
inline void add_foil_between_sensors(Scene& scene) {
  scene.optics.surfaces.resize(1);
  scene.optics.surfaces[0].name = "Foil0x9f0";
  SurfaceAssignment border{SurfaceAssignment::Kind::border, "border", 0, {}, {}};
  border.from.copy_number = 7;
  border.to.copy_number = 9;
  scene.optics.assignments = {border};
  resolve_optics(scene);
}

}  // namespace raylift::test
