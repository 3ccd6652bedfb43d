// SPDX-License-Identifier: Apache-2.0
#include "tank.h"

#include "bench/rays/ray_scenes.h"

#include <raylift/geometry/optics/surface_between.h>
#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <string>

namespace raylift::bench {
namespace {

OpticalTable flat(const std::string& key, double value) {
  return {key, OpticalTable::Axis::wavelength_nm, {200, 800}, {value, value}};
}

void add_surface(Scene& scene, const std::string& solid, double detect, double absorb, double diffuse,
                 double specular) {
  OpticalSurface surface;
  surface.name = solid + " surface";
  surface.model = SurfaceModel::simple;
  surface.properties.tables = {flat("DETECT", detect), flat("ABSORB", absorb), flat("REFLECT_DIFFUSE", diffuse),
                               flat("REFLECT_SPECULAR", specular)};
  const auto number = static_cast<std::uint32_t>(scene.optics.surfaces.size());
  scene.optics.surfaces.push_back(surface);
  SurfaceAssignment skin{SurfaceAssignment::Kind::skin, surface.name, number, {}, {}};
  skin.from.solid = solid;
  scene.optics.assignments.push_back(skin);
}

}  // namespace

Scene tank(std::uint32_t sensors) {
  Scene scene = instanced_detector(sensors);
  scene.materials = {{"vacuum", {}}, {"liquid", {}}};
  scene.bindings = {{0}, {1}};
  scene.nodes = {{"world", kNone, {}, kNone}, {"tank", 0, {}, kNone}, {"sensor", 1, {}, kNone}};
  Instance world = scene.instances.front();
  world.transform = to_eigen(world.transform).scale(1.05);
  scene.instances.insert(scene.instances.begin(), world);
  for (std::uint32_t i = 0; i != scene.instances.size(); ++i) {
    Instance& instance = scene.instances[i];
    instance.node = std::min(i, 2U);
    instance.binding = i == 1 ? 1 : 0;
    instance.outside = i == 0 ? kNone : i == 1 ? 0 : 1;
  }
  scene.bounds = world_bounds(scene);
  scene.optics.materials = {{{flat("RINDEX", 1)}, {}},
                            {{flat("RINDEX", 1.48), flat("ABSLENGTH", 80'000), flat("RAYLEIGH", 25'000)}, {}}};
  add_surface(scene, "tank", 0, 0.9, 0.1, 0);
  add_surface(scene, "sensor", 0.25, 0.65, 0.05, 0.05);
  resolve_optics(scene);
  return scene;
}

}  // namespace raylift::bench
