// SPDX-License-Identifier: Apache-2.0
#include "rayleigh.h"

#include <raylift/geometry/scene/optics_codes.h>
#include "property_table.h"
#include "scene/names.h"

#include <cmath>
#include <numbers>

namespace raylift {
namespace detail {

std::optional<OpticalTable> computed_rayleigh(std::string_view material, const OpticalProperties& properties) {
  constexpr double kBoltzmann = 8.617333262e-11;  // MeV/K
  constexpr double kCompressibilityOfWater = 7.658e-23 * 1e9, kWaterKelvin = 283.15, kNormalKelvin = 293.15;
  constexpr double kMmPerNm = 1e-6;
  const OpticalTable* const index = properties.table("RINDEX");
  const bool water = base_name(material) == "Water";
  std::optional<double> compressibility = properties.constant("ISOTHERMAL_COMPRESSIBILITY");
  if (!compressibility && water) compressibility = kCompressibilityOfWater;
  if (index == nullptr || !compressibility) return std::nullopt;
  const double kelvin = water ? kWaterKelvin : properties.constant("TEMPERATURE").value_or(kNormalKelvin);
  const double fluctuation = properties.constant("RS_SCALE_FACTOR").value_or(1) * *compressibility * kelvin *
                             kBoltzmann / (6 * std::numbers::pi);
  OpticalTable table{"RAYLEIGH", index->axis, index->at, {}};
  for (std::size_t i = 0; i != index->at.size(); ++i) {
    const double wavelength =
        (index->axis == OpticalTable::Axis::energy_ev ? kEvNm / index->at[i] : index->at[i]) * kMmPerNm;
    const double square = index->values[i] * index->values[i];
    const double contrast = (square - 1) * (square + 2) / 3;
    const double inverse = fluctuation * std::pow(2 * std::numbers::pi / wavelength, 4) * contrast * contrast;
    constexpr double kNever = 1e30;  // mm: of an index of 1
    table.values.push_back(inverse > 1 / kNever ? 1 / inverse : kNever);
  }
  return table;
}

void add_rayleigh(Scene& scene) {
  for (std::size_t i = 0; i != scene.optics.materials.size(); ++i) {
    OpticalProperties& properties = scene.optics.materials[i];
    if (properties.table("RAYLEIGH") != nullptr) continue;
    if (auto table = computed_rayleigh(scene.materials[i].name, properties))
      properties.tables.push_back(std::move(*table));
  }
}

}  // namespace detail

bool has_computed_rayleigh(std::string_view material, const OpticalProperties& properties) {
  const OpticalTable* const table = properties.table("RAYLEIGH");
  return table != nullptr && detail::computed_rayleigh(material, properties) == *table;
}

}  // namespace raylift
