// SPDX-License-Identifier: Apache-2.0
// What the generated scenes are made of, for light: properties of materials, and surfaces.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace raylift::detector {

/// Energy in MeV, as Geant4's exporter writes it, and value.
struct Table {
  std::string key;
  std::vector<std::pair<double, double>> points;
};

struct Properties {
  std::vector<Table> tables;
  std::vector<std::pair<std::string, double>> constants;
};

struct MaterialOptics {
  std::string name;
  Properties properties;
};

/// By Geant4's numbers. `value` is the polish (model 0) or sigma_alpha (model 1).
struct SurfaceOptics {
  std::string name;
  int finish = 0, model = 0, type = 0;
  double value = 1;
  Properties properties;
};

struct Skin {
  std::string name, surface, volume;
};

/// Between two volumes of Detector::nested, out of the first into the second.
struct Border {
  std::string name, surface, from, to;
};

struct Optics {
  std::vector<MaterialOptics> materials;
  std::vector<SurfaceOptics> surfaces;
  std::vector<Skin> skins;
  std::vector<Border> borders;
};

/// The optics of make(): liquids that scintillate, scatter and re-emit, sensors, a steel tank with a reflector inside
/// and a diffuse pool. The numbers are plausible, but not measured.
[[nodiscard]] Optics detector_optics();

/// The optics of argon_box(): Simphony's numbers. They state no REFLECTIVITY of the detecting shell, which detects all
/// incident light. It is 0 here, because Geant4's default is 1.
[[nodiscard]] Optics argon_box_optics();

/// The optics of water_sphere(): two indices and a polished boundary.
[[nodiscard]] Optics water_sphere_optics();

/// The optics of integrating_sphere(): a Lambertian wall that reflects 99 %, and a port that detects all incident
/// light.
[[nodiscard]] Optics integrating_sphere_optics();

}  // namespace raylift::detector
