// SPDX-License-Identifier: Apache-2.0
// Scenes of concentric spheres, and photons through them on every device.
#pragma once

#include <gtest/gtest.h>
#include <raylift/geometry/optics/surface_between.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/upload/upload.h>
#include <raylift/photon/propagate.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/devices.h"
#include "support/effort.h"
#include "support/meshes.h"

namespace raylift::test {

inline OpticalTable flat(const std::string& key, double value) {
  return {key, OpticalTable::Axis::wavelength_nm, {200, 800}, {value, value}};
}

/// Concentric spheres, each in the one before; their radii in mm and materials' properties.
struct Shell {
  double radius;
  std::vector<OpticalTable> tables;
  std::vector<OpticalProperties::Constant> constants = {};
};

inline Scene shells(const std::vector<Shell>& all) {
  Scene scene;
  scene.source = "made in a test";
  scene.meshes = {sphere(4)};
  for (std::uint32_t i = 0; i != all.size(); ++i) {
    scene.materials.push_back({"material " + std::to_string(i), {}});
    scene.bindings.push_back({i});
    scene.nodes.push_back({"solid " + std::to_string(i), i == 0 ? kNone : i - 1, {}, kNone});
    Instance instance;
    instance.node = i;
    instance.binding = i;
    instance.outside = i == 0 ? kNone : i - 1;
    instance.transform = to_eigen(instance.transform).scale(all[i].radius);
    scene.instances.push_back(instance);
    scene.optics.materials.push_back({all[i].tables, all[i].constants});
  }
  scene.bounds = world_bounds(scene);
  return scene;
}

/// Gives the innermost solid a skin.
inline void add_skin(Scene& scene, SurfaceModel model, std::vector<OpticalTable> tables) {
  OpticalSurface surface;
  surface.name = "skin";
  surface.model = model;
  surface.properties.tables = std::move(tables);
  scene.optics.surfaces = {surface};
  SurfaceAssignment skin{SurfaceAssignment::Kind::skin, "skin", 0, {}, {}};
  skin.from.solid = scene.nodes.back().name;
  scene.optics.assignments = {skin};
  resolve_optics(scene);
}

/// Where move_away_with_sensor() puts a scene, mm.
inline const Eigen::Vector3d kAway(5000, -300, 70);
/// Moves all solids there, and makes the innermost one a sensor of channel 4711 with a skin that detects and reflects.
inline void move_away_with_sensor(Scene& scene) {
  for (Instance& instance : scene.instances) instance.transform = to_eigen(instance.transform).pretranslate(kAway);
  scene.bounds = world_bounds(scene);
  ChannelAssignment sensor;
  sensor.solids.solid = scene.nodes.back().name;
  sensor.first = 4711;
  scene.optics.channel_assignments = {sensor};
  add_skin(scene, SurfaceModel::unified, {flat("REFLECTIVITY", 0.7), flat("EFFICIENCY", 0.5)});
}
/// With its BVH and the view's origin there.
[[nodiscard]] inline GpuGeometry upload_away(const Scene& scene, const Device& device) {
  UploadOptions options;
  options.bvh = true;
  options.origin = kAway;
  return upload(scene, device, options);
}

template <class T>
[[nodiscard]] bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

[[nodiscard]] inline bool same(const photon::Outcome& a, const photon::Outcome& b) {
  const auto fields = [](const photon::Outcome& o) {
    return std::tuple(o.photon.position, o.photon.time, o.photon.direction, o.photon.wavelength, o.photon.polarization,
                      o.photon.in.solid, o.photon.in.exceptions[0], o.photon.in.exceptions[1], o.last.kind,
                      o.last.material, o.last.surface, o.last.from, o.last.to, o.last.channel, o.steps, o.history,
                      o.kinds, o.event);
  };
  return fields(a) == fields(b);
}

/// The number of photons that did not end alike.
[[nodiscard]] inline std::size_t differing(const std::vector<photon::Outcome>& a,
                                           const std::vector<photon::Outcome>& b) {
  std::size_t count = std::max(a.size(), b.size()) - std::min(a.size(), b.size());
  for (std::size_t i = 0; i != std::min(a.size(), b.size()); ++i) count += same(a[i], b[i]) ? 0U : 1U;
  return count;
}

/// Photons in scenes, on a device.
class OfPhotons : public OnDevice {
 protected:
  static constexpr std::size_t kAllPhotons = 200'000;
  static constexpr std::size_t kPhotons = test::effort(kAllPhotons);

  [[nodiscard]] GpuGeometry upload_scene(const Scene& scene, bool flatten = false) const {
    UploadOptions options;
    options.bvh = true;
    options.flatten = flatten;
    return upload(scene, device(), options);
  }
  [[nodiscard]] std::vector<photon::Outcome> run(const GpuGeometry& geometry, const photon::Source& source = {},
                                                 const photon::Run& how = {}, std::size_t count = kPhotons) const {
    const Stream stream(device());
    const DeviceBuffer<photon::Outcome> outcomes(device(), count);
    photon::propagate(geometry, source, how, outcomes.device(), count, stream);
    std::vector<photon::Outcome> result(count);
    outcomes.copy_to(result, stream);
    stream.synchronize();
    return result;
  }
  /// Photons at an address of the device, while this lives.
  struct Given {
    DeviceBuffer<photon::StartPhoton> memory;
    photon::Source source;
  };
  [[nodiscard]] Given give(const std::vector<photon::StartPhoton>& photons) const {
    const Stream stream(device());
    Given given{DeviceBuffer<photon::StartPhoton>(device(), photons.size()), {}};
    given.memory.copy_from(photons, stream);
    stream.synchronize();
    given.source.photons = given.memory.device();
    given.source.photon_count = photons.size();
    return given;
  }
};

}  // namespace raylift::test

// What the tests of photons name.
namespace raylift::photon {

using test::add_skin;
using test::differing;
using test::flat;
using test::same;
using test::shells;

inline constexpr double kLight = 299.792458;  // mm/ns
inline constexpr Float3 kAxis{0.6F, 0, -0.8F};

}  // namespace raylift::photon
