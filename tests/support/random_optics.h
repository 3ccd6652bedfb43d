// SPDX-License-Identifier: Apache-2.0
// Random optics for tests: each kind of material, surface and channel, and random assignments of them.
#pragma once

#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/scene/scene.h>
#include <raylift/gpu/upload/optics_arrays.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace raylift::test {

inline OpticsArrays arrays_of(const Scene& scene, const Raster& raster = kOwnPoints) {
  return optics_arrays(scene, solid_tree(scene), raster);
}

/// A table of random points and values.
inline OpticalTable random_table(std::mt19937& random, std::string key, double least, double most,
                                 bool wavelength = false) {
  std::uniform_real_distribution<double> value(least, most);
  std::uniform_real_distribution<double> at(wavelength ? 70.0 : 1.3, wavelength ? 900.0 : 15.0);
  std::set<double> points;
  for (std::size_t count = 2 + random() % 12; points.size() != count;) points.insert(at(random));
  OpticalTable table{
      std::move(key), wavelength ? OpticalTable::Axis::wavelength_nm : OpticalTable::Axis::energy_ev, {}, {}};
  for (const double point : points) {
    table.at.push_back(point);
    table.values.push_back(value(random));
  }
  return table;
}

/// One with every property, and one with the few that most have.
inline OpticalProperties random_material(std::mt19937& random, bool full) {
  OpticalProperties material;
  const auto table = [&](const char* key, double least, double most, bool wavelength = false) {
    material.tables.push_back(random_table(random, key, least, most, wavelength));
  };
  table("RINDEX", 1.2, 1.8);
  table("ABSLENGTH", 10, 1e5, true);
  if (!full) return material;
  table("GROUPVEL", 150, 250);
  table("RAYLEIGH", 10, 1e5);
  table("MIEHG", 10, 1e5);
  table("REEMISSIONPROB", 0, 1);
  table("WLSABSLENGTH", 0.001, 1e4);
  table("WLSABSLENGTH2", 0.001, 1e4);
  table("WLSCOMPONENT", 0, 1);
  table("WLSCOMPONENT2", 0, 1, true);
  table("SCINTILLATIONCOMPONENT1", 0, 1);
  table("SCINTILLATIONCOMPONENT2", 0, 1, true);
  table("SCINTILLATIONCOMPONENT3", 0, 1);
  material.constants = {
      {"MIEHG_FORWARD", 0.9},          {"MIEHG_BACKWARD", 0.1},           {"MIEHG_FORWARD_RATIO", 0.75},
      {"SCINTILLATIONYIELD", 24000},   {"SCINTILLATIONYIELD1", 3},        {"SCINTILLATIONYIELD2", 1},
      {"RESOLUTIONSCALE", 2},          {"SCINTILLATIONTIMECONSTANT1", 7}, {"SCINTILLATIONTIMECONSTANT2", 1400},
      {"SCINTILLATIONRISETIME2", 0.5}, {"WLSTIMECONSTANT", 1.25},         {"WLSMEANNUMBERPHOTONS2", 1.5}};
  return material;
}

inline OpticalSurface surface_of(std::string name, SurfaceModel model) {
  OpticalSurface surface;
  surface.name = std::move(name);
  surface.model = model;
  return surface;
}

/// One of each model.
inline std::vector<OpticalSurface> random_surfaces(std::mt19937& random) {
  std::vector<OpticalSurface> surfaces;
  const auto table = [&](const char* key, double least, double most, bool wavelength = false) {
    surfaces.back().properties.tables.push_back(random_table(random, key, least, most, wavelength));
  };
  const auto add = [&](const char* name, SurfaceModel model) -> OpticalSurface& {
    return surfaces.emplace_back(surface_of(name, model));
  };
  OpticalSurface& plain = add("plain", SurfaceModel::glisur);
  plain.finish = SurfaceFinish::ground;
  plain.value = 0.5;
  OpticalSurface& unified = add("unified", SurfaceModel::unified);
  unified.finish = SurfaceFinish::ground_back_painted;
  unified.type = SurfaceType::dielectric_metal;
  unified.value = 0.25;
  for (const char* key : {"REFLECTIVITY", "EFFICIENCY", "TRANSMITTANCE"}) table(key, 0, 0.5);
  for (const char* key : {"SPECULARLOBECONSTANT", "SPECULARSPIKECONSTANT", "BACKSCATTERCONSTANT"}) table(key, 0, 0.3);
  for (const char* key : {"RINDEX", "REALRINDEX", "IMAGINARYRINDEX"}) table(key, 1, 3);
  surfaces.back().properties.constants = {{"SURFACEROUGHNESS", 1e-4}};
  add("simple", SurfaceModel::simple);
  for (const char* key : {"DETECT", "ABSORB", "REFLECT_DIFFUSE", "REFLECT_SPECULAR"}) table(key, 0, 0.25, true);
  add("film", SurfaceModel::thin_film);
  table("FILM_RINDEX", 1, 4);
  table("FILM_KINDEX", 0, 2);
  surfaces.back().properties.constants = {{"FILM_THICKNESS", 2.5e-5}};
  add("shifting", SurfaceModel::wavelength_shifting);
  table("REEMISSIONPROB", 0, 1);
  table("WLSCOMPONENT", 0, 1);
  add("dichroic", SurfaceModel::dichroic);
  for (const double angle : {0.0, 0.3, 0.9, 1.5})
    surfaces.back().dichroic.push_back({angle, random_table(random, "R", 0, 0.5), random_table(random, "T", 0, 0.5)});
  return surfaces;
}

/// Gives a scene optics: skins, ordered pairs and channels at random. What is resolved does not come from selectors.
inline void give_optics(Scene& scene, unsigned seed) {
  std::mt19937 random(seed);
  Optics& optics = scene.optics;
  for (std::size_t i = 0; i != scene.materials.size(); ++i)
    optics.materials.push_back(random_material(random, i % 2 == 0));
  optics.surfaces = random_surfaces(random);
  const auto surfaces = static_cast<std::uint32_t>(optics.surfaces.size());
  for (std::uint32_t i = 0; i != surfaces; ++i)
    optics.assignments.push_back({SurfaceAssignment::Kind::skin, optics.surfaces[i].name, surfaces - 1 - i, {}, {}});
  optics.channel_types.push_back({"sensor",
                                  random_table(random, "EFFICIENCY", 0, 1),
                                  {0, 0.25, 1.25},
                                  {1, 0.75, 0.125},
                                  {{-1, 0, 3}, {0, 2, 0}},
                                  {{0, 1, 2}, {0, 1, 0}}});
  optics.channel_types.push_back({"bare", {}, {}, {}, {}, {}});
  const auto solids = static_cast<std::uint32_t>(scene.instances.size());
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::uint32_t i = 0; i != solids; ++i) {
    optics.skins.push_back(random() % 2 == 0 ? kNone : static_cast<std::uint32_t>(random() % surfaces));
    if (random() % 3 == 0)
      optics.channels.push_back({i, static_cast<std::int64_t>(1000 + i),
                                 random() % 3 == 0 ? kNone : static_cast<std::uint32_t>(random() % 2)});
    for (int k = 0; k != 3; ++k) pairs.emplace(i, random() % solids);
  }
  for (const auto& [from, to] : pairs)
    if (from != to) optics.borders.push_back({from, to, static_cast<std::uint32_t>(random() % surfaces)});
}

/// Solids in a random tree, each a tetrahedron of one or two parts, several of one logical volume.
inline Scene random_tree(unsigned seed, std::uint32_t solids) {
  std::mt19937 random(seed);
  Scene scene;
  scene.source = "made in a test";
  for (int i = 0; i != 4; ++i) scene.materials.push_back({"m" + std::to_string(i), {0.5F, 0.5F, 0.5F, 1}});
  scene.bindings = {{0}, {1, 2}, {3, kNone}};
  for (std::uint32_t parts = 1; parts != 3; ++parts)
    scene.meshes.push_back({"mesh",
                            {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                            {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}},
                            parts == 1 ? std::vector<Mesh::Part>{{0, 4}} : std::vector<Mesh::Part>{{0, 1}, {1, 3}}});
  for (int i = 0; i != 5; ++i) scene.volumes.push_back("volume" + std::to_string(i));
  for (std::uint32_t i = 0; i != solids; ++i) {
    const std::uint32_t parent = i == 0 || random() % 8 == 0 ? kNone : static_cast<std::uint32_t>(random() % i);
    scene.nodes.push_back(
        {"n" + std::to_string(i), parent, {}, random() % 4 == 0 ? kNone : std::uint32_t(random() % 5)});
    const auto mesh = static_cast<std::uint32_t>(random() % 2);
    const std::uint32_t binding = mesh == 0 ? 0 : 1 + static_cast<std::uint32_t>(random() % 2);
    EigenTransform transform = EigenTransform::Identity();
    transform.translate(Eigen::Vector3d(2.0 * i, 0, 0));
    scene.instances.push_back({mesh, i, binding, random() % 3 == 0 ? kNone : 3U, transform});
  }
  scene.bounds = world_bounds(scene);
  give_optics(scene, seed + 1);
  return scene;
}

/// A scene of one material, and optionally surfaces.
inline Scene scene_of(OpticalProperties material, std::vector<OpticalSurface> surfaces = {}) {
  Scene scene = random_tree(1, 2);
  scene.materials.resize(1);
  scene.bindings = {{0}, {0, 0}, {0, kNone}};
  for (Instance& instance : scene.instances) instance.outside = kNone;
  scene.optics = {};
  scene.optics.materials = {std::move(material)};
  scene.optics.surfaces = std::move(surfaces);
  return scene;
}

}  // namespace raylift::test
