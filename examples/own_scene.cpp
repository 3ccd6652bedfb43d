// SPDX-License-Identifier: Apache-2.0
// A scene with optics that is made in the program, not loaded: a tank of water, 2 m wide and 1 km from the origin, with
// a sensor that sees a sixth of the light. docs/optics.md explains the parts.
#include <raylift/geometry/checks/validate.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/optics/properties.h>
#include <raylift/geometry/optics/surface_between.h>
#include <raylift/geometry/scene/convert.h>
#include <raylift/geometry/scene/scene.h>
#include <raylift/photon/simulation.h>

#include <cinttypes>
#include <cstdio>
#include <utility>

namespace {

/// A box given by two corners, as a mesh and its solid. The corners are in double, in millimetres of the world.
void add_box(raylift::Scene& scene, const char* name, const raylift::Double3& low, const raylift::Double3& high,
             std::uint32_t mother, std::uint32_t material) {
  double corners[8][3];
  for (int i = 0; i != 8; ++i)
    for (int axis = 0; axis != 3; ++axis) corners[i][axis] = (i >> axis & 1) != 0 ? high[axis] : low[axis];
  raylift::Mesh mesh;
  mesh.name = name;
  mesh.vertices.resize(8);
  // Floats are finest near the origin: the mesh is stored around its middle, and the transform has the middle.
  const raylift::Double3 middle = raylift::to_centered_float3({&corners[0][0], 8}, mesh.vertices);
  // Counter-clockwise as seen from outside.
  mesh.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                    {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  mesh.parts = {{0, 12}};

  raylift::Node node;
  node.name = name;
  node.parent = mother == raylift::kNone ? raylift::kNone : scene.instances[mother].node;
  raylift::Instance solid;
  solid.mesh = static_cast<std::uint32_t>(scene.meshes.size());
  solid.node = static_cast<std::uint32_t>(scene.nodes.size());
  solid.binding = static_cast<std::uint32_t>(scene.bindings.size());
  solid.outside = mother == raylift::kNone ? raylift::kNone : scene.material(scene.instances[mother], 0);
  solid.transform = raylift::Transform::Translation(middle);
  scene.meshes.push_back(std::move(mesh));
  scene.nodes.push_back(std::move(node));
  scene.bindings.push_back({material});  // of the mesh's one part
  scene.instances.push_back(solid);
}

raylift::Scene tank(const raylift::Double3& center) {
  const auto at = [&](double x, double y, double z) {
    return raylift::Double3(center.x + x, center.y + y, center.z + z);
  };
  raylift::Scene scene;
  scene.source = "the tank";  // in messages
  scene.materials = {{"Water", {0.4F, 0.6F, 1.0F, 1.0F}}, {"Glass", {}}};
  add_box(scene, "Tank", at(-1000, -1000, -1000), at(1000, 1000, 1000), raylift::kNone, 0);
  add_box(scene, "Sensor", at(-900, -900, 900), at(900, 900, 950), 0, 1);

  using Axis = raylift::OpticalTable::Axis;
  raylift::Optics& optics = scene.optics;
  optics.materials.resize(scene.materials.size());  // one for each material
  optics.materials[0].tables = {
      {"RINDEX", Axis::energy_ev, {1.55, 6.2}, {1.33, 1.36}},
      {"ABSLENGTH", Axis::wavelength_nm, {200, 420, 800}, {5e3, 1e9, 2e3}},  // mm
  };
  optics.materials[1].tables = {{"RINDEX", Axis::energy_ev, {1.55, 6.2}, {1.5, 1.5}}};

  raylift::OpticalSurface cathode;
  cathode.name = "Cathode";
  cathode.type = raylift::SurfaceType::dielectric_metal;
  cathode.properties.tables = {
      {"REFLECTIVITY", Axis::energy_ev, {1.55, 6.2}, {0, 0}},
      {"EFFICIENCY", Axis::wavelength_nm, {300, 400, 440, 600}, {0, 0.25, 0.25, 0}},
  };
  optics.surfaces = {cathode};
  raylift::SurfaceAssignment skin;
  skin.name = "CathodeSkin";
  skin.surface = 0;
  skin.from.solid = "Sensor";
  optics.assignments = {skin};
  raylift::ChannelAssignment channel;
  channel.solids.solid = "Sensor";
  optics.channel_assignments = {channel};

  scene.bounds = raylift::world_bounds(scene);
  raylift::check_optical_properties(scene);  // their values and units
  raylift::resolve_optics(scene);            // the solids that the selectors mean
  raylift::validate(scene);                  // indices, parts, transforms
  return scene;
}

}  // namespace

int main() {
  try {
    const raylift::Double3 center(1e6, 0, 0);
    const raylift::GpuGeometry geometry = raylift::upload(tank(center), raylift::Device::choose());
    raylift::photon::Source source;  // a point; isotropic
    source.center = center;
    source.wavelength = 420;
    raylift::photon::Simulation simulation(geometry);
    const raylift::photon::Tally tally = simulation.run(source, {}, 100'000);
    const std::uint64_t detected = tally.of(raylift::photon::StepKind::detected);
    std::printf("%" PRIu64 " of 100000 photons detected; a sixth reaches the sensor, and a quarter of that is 4167\n",
                detected);
  } catch (const raylift::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return raylift::exit_code(error.kind());
  }
}
