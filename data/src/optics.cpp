// SPDX-License-Identifier: Apache-2.0
#include "optics.h"

#include <array>

namespace raylift::detector {
namespace {

// Geant4's numbers.
constexpr int kPolished = 0, kGround = 3;
constexpr int kGlisur = 0, kUnified = 1;
constexpr int kMetal = 0, kDielectric = 1;

// Photon energies, 800 nm to 200 nm.
constexpr std::array<double, 8> kEnergies{1.55e-06, 2.0e-06, 2.48e-06, 2.95e-06, 3.26e-06, 3.54e-06, 4.13e-06, 6.2e-06};

Table on_grid(const char* key, const std::array<double, 8>& values) {
  Table table{key, {}};
  for (std::size_t i = 0; i != values.size(); ++i) table.points.emplace_back(kEnergies[i], values[i]);
  return table;
}

/// From eV.
Table in_ev(const char* key, std::vector<std::pair<double, double>> points) {
  for (auto& [energy, value] : points) energy *= 1e-6;
  return {key, std::move(points)};
}

/// The same at all energies.
Table flat(const char* key, double value) {
  return in_ev(key, {{1.55, value}, {12.4, value}});
}

std::vector<MaterialOptics> detector_materials() {
  return {
      {"Vacuum", {{on_grid("RINDEX", {1, 1, 1, 1, 1, 1, 1, 1})}, {}}},
      {"Rock", {}},
      {"Water",
       {{on_grid("ABSLENGTH", {490, 3200, 24000, 33000, 29000, 20000, 9000, 800}),
         on_grid("RAYLEIGH", {900000, 500000, 250000, 130000, 90000, 65000, 36000, 7000}),
         on_grid("RINDEX", {1.329, 1.332, 1.336, 1.341, 1.345, 1.349, 1.358, 1.39})},
        {}}},
      {"StainlessSteel", {{on_grid("ABSLENGTH", {0.001, 0.001, 0.001, 0.001, 0.001, 0.001, 0.001, 0.001})}, {}}},
      {"MineralOil",
       {{on_grid("ABSLENGTH", {8000, 12000, 11000, 9500, 6500, 2500, 120, 1}),
         on_grid("RAYLEIGH", {850000, 400000, 170000, 83000, 56000, 40000, 21000, 4000}),
         on_grid("RINDEX", {1.453, 1.456, 1.461, 1.468, 1.474, 1.48, 1.495, 1.6})},
        {}}},
      {"Acrylic",
       {{on_grid("ABSLENGTH", {5000, 7000, 8000, 6000, 2000, 300, 2, 0.1}),
         on_grid("RINDEX", {1.484, 1.488, 1.493, 1.499, 1.504, 1.51, 1.525, 1.6})},
        {}}},
      {"LiquidScintillator",
       {{on_grid("ABSLENGTH", {15000, 22000, 20000, 12000, 1500, 60, 2, 0.5}),
         on_grid("FASTCOMPONENT", {0, 0.02, 0.25, 1, 0.5, 0.04, 0, 0}),
         on_grid("RAYLEIGH", {500000, 230000, 90000, 42000, 27000, 19000, 9800, 1800}),
         on_grid("REEMISSIONPROB", {0, 0, 0, 0.1, 0.5, 0.8, 0.8, 0.8}),
         on_grid("RINDEX", {1.475, 1.479, 1.485, 1.494, 1.502, 1.511, 1.535, 1.8}),
         on_grid("SLOWCOMPONENT", {0, 0.03, 0.3, 1, 0.4, 0.03, 0, 0})},
        {{"FASTTIMECONSTANT", 4.5},
         {"RESOLUTIONSCALE", 1},
         {"SCINTILLATIONYIELD", 10000},
         {"SLOWTIMECONSTANT", 16},
         {"YIELDRATIO", 0.85}}}},
      {"Glass",
       {{on_grid("ABSLENGTH", {1000, 1000, 1000, 800, 400, 100, 3, 0.1}),
         on_grid("RINDEX", {1.465, 1.469, 1.474, 1.48, 1.485, 1.49, 1.5, 1.55})},
        {}}},
      {"Bialkali",
       {{on_grid("ABSLENGTH", {0.0001, 0.0001, 0.0001, 0.0001, 0.0001, 0.0001, 0.0001, 0.0001}),
         on_grid("RINDEX", {2.9, 2.9, 3.0, 2.7, 2.4, 2.0, 1.7, 1.5})},
        {}}},
  };
}

SurfaceOptics port(const char* name) {
  return {name, kPolished, kUnified, kMetal, 1, {{flat("EFFICIENCY", 1), flat("REFLECTIVITY", 0)}, {}}};
}

}  // namespace

Optics detector_optics() {
  Optics optics;
  optics.materials = detector_materials();
  optics.surfaces = {{"CathodeSurface",
                      kPolished,
                      kGlisur,
                      kMetal,
                      1,
                      {{on_grid("EFFICIENCY", {0, 0.04, 0.2, 0.31, 0.32, 0.3, 0.18, 0.02}),
                        on_grid("REFLECTIVITY", {0.3, 0.25, 0.2, 0.16, 0.15, 0.15, 0.15, 0.15})},
                       {}}},
                     {"PoolSurface",
                      kGround,
                      kUnified,
                      kMetal,
                      0.2,
                      {{on_grid("REFLECTIVITY", {0.96, 0.97, 0.97, 0.96, 0.95, 0.93, 0.85, 0.5})}, {}}},
                     {"ReflectorSurface",
                      kPolished,
                      kUnified,
                      kMetal,
                      0,
                      {{on_grid("REFLECTIVITY", {0.98, 0.985, 0.985, 0.98, 0.9, 0.2, 0.1, 0.1})}, {}}},
                     {"TankSurface",
                      kGround,
                      kUnified,
                      kMetal,
                      0.1,
                      {{on_grid("BACKSCATTERCONSTANT", {0, 0, 0, 0, 0, 0, 0, 0}),
                        on_grid("REFLECTIVITY", {0.35, 0.36, 0.38, 0.37, 0.33, 0.28, 0.2, 0.1}),
                        on_grid("SPECULARLOBECONSTANT", {0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8}),
                        on_grid("SPECULARSPIKECONSTANT", {0, 0, 0, 0, 0, 0, 0, 0})},
                       {}}}};
  optics.skins = {{"CathodeSkin", "CathodeSurface", "Photocathode"},
                  {"PoolSkin", "PoolSurface", "Pool"},
                  {"TankSkin", "TankSurface", "Tank"}};
  optics.borders = {{"ReflectorBorder", "ReflectorSurface", "Buffer", "Tank"}};
  return optics;
}

Optics argon_box_optics() {
  const Table absorption = in_ev(
      "ABSLENGTH", {{2.34, 1e4}, {2.92, 5000}, {3.1, 2000}, {3.65, 500}, {4.07, 50}, {7.75, 0.001}, {11.7, 0.001}});
  const auto index = [](double value) { return in_ev("RINDEX", {{2.34, value}, {11.7, value}}); };
  const std::vector<std::pair<double, double>> line{{8.92, 0}, {9.69, 1}, {10.6, 0}};
  Optics optics;
  optics.materials = {
      {"LiquidArgon",
       {{in_ev("ABSLENGTH", {{2.34, 80000}, {7.5, 80000}, {7.51, 10000}, {11.7, 10000}}),
         in_ev("RAYLEIGH", {{2.19, 1.29e6},
                            {3.19, 2.72e5},
                            {4.19, 8.72e4},
                            {5.19, 3.48e4},
                            {6.19, 1.58e4},
                            {7.19, 7630},
                            {8.19, 3713},
                            {9.19, 1654},
                            {9.69, 999},
                            {10.19, 513},
                            {10.69, 175},
                            {11.19, 9.6}}),
         in_ev("RINDEX", {{2.34, 1.23}, {3.65, 1.23}, {4.07, 1.235}, {7.75, 1.315}, {9.69, 1.45}, {11.7, 1.6}}),
         in_ev("SCINTILLATIONCOMPONENT1", line), in_ev("SCINTILLATIONCOMPONENT2", line)},
        {{"RESOLUTIONSCALE", 1},
         {"SCINTILLATIONTIMECONSTANT1", 7},
         {"SCINTILLATIONTIMECONSTANT2", 1400},
         {"SCINTILLATIONYIELD", 24000},
         {"SCINTILLATIONYIELD1", 0.75},
         {"SCINTILLATIONYIELD2", 0.25}}}},
      {"BlueAcrylic",
       {{absorption, index(1.58),
         in_ev("WLSABSLENGTH", {{2.92, 2000}, {3.1, 0.8}, {3.65, 0.8}, {4.07, 3}, {7.75, 1e-4}, {11.7, 1e-4}}),
         in_ev("WLSCOMPONENT", {{2.34, 5e-4}, {2.92, 0.02}})},
        {{"WLSTIMECONSTANT", 1.26}}}},
      {"PTerphenyl",
       {{absorption, index(1.65),
         in_ev("WLSABSLENGTH", {{2.34, 1e4}, {3.65, 1e4}, {4.07, 0.187}, {7.75, 5e-4}, {11.7, 5e-4}}),
         in_ev("WLSCOMPONENT", {{2.92, 5e-4}, {3.1, 2e-3}, {3.65, 0.022}, {4.07, 5e-4}})},
        {{"WLSTIMECONSTANT", 1.136}}}},
  };
  optics.surfaces = {port("ShellSurface")};
  optics.skins = {{"ShellSkin", "ShellSurface", "Shell"}};
  return optics;
}

Optics water_sphere_optics() {
  Optics optics;
  optics.materials = {{"Air", {{flat("RINDEX", 1)}, {}}},
                      {"Water", {{flat("ABSLENGTH", 1e5), flat("RINDEX", 1.33)}, {}}}};
  optics.surfaces = {{"Polished", kPolished, kUnified, kDielectric, 0, {}}};
  optics.skins = {{"SphereSkin", "Polished", "Sphere"}};
  return optics;
}

Optics integrating_sphere_optics() {
  Optics optics;
  optics.materials = {{"Air", {{flat("RINDEX", 1)}, {}}}, {"Barium", {}}, {"Silicon", {}}};
  optics.surfaces = {port("PortSurface"),
                     {"WallSurface", kGround, kUnified, kMetal, 0, {{flat("REFLECTIVITY", 0.99)}, {}}}};
  optics.skins = {{"PortSkin", "PortSurface", "Port"}, {"WallSkin", "WallSurface", "Wall"}};
  return optics;
}

}  // namespace raylift::detector
