// SPDX-License-Identifier: Apache-2.0
// The optical properties that raylift reads, by Geant4's keys: their units, their limits, and which are honoured.
#pragma once

#include <raylift/geometry/optics/properties.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace raylift {

struct PropertyInfo {
  /// The quantity of a property's values, which determines their valid range.
  enum class Quantity : std::uint8_t {
    index,        ///< refractive: positive
    extinction,   ///< imaginary part of a refractive index: not negative
    speed,        ///< mm/ns, positive
    length,       ///< mm, not negative
    time,         ///< ns, not negative
    probability,  ///< 0 to 1
    weight,       ///< of a spectrum, not negative; only ratios count
    yield,        ///< photons per MeV, not negative
    count,        ///< not negative
    cosine,       ///< -1 to 1
    angle,        ///< radians, not negative
  };

  std::string_view key;
  PropertyOf of;
  bool table;  ///< over energy or wavelength; else one number
  Quantity quantity;
  std::string_view honoured;  ///< the model that uses it; empty: read, listed, and not simulated
};

/// All of them; docs/optics.md has the same table.
[[nodiscard]] std::span<const PropertyInfo> optical_properties();
/// Null for a key that is none of raylift's properties.
[[nodiscard]] const PropertyInfo* find_property(PropertyOf of, std::string_view key);
/// "mm", "ns", "1/MeV"; empty where there is none.
[[nodiscard]] std::string_view unit(PropertyInfo::Quantity quantity);

/// "material 'Water'": for messages.
[[nodiscard]] std::string property_owner(PropertyOf of, std::string_view owner);

/// Whether a material's RAYLEIGH is the table that LoadOptions::compute_rayleigh adds.
[[nodiscard]] bool has_computed_rayleigh(std::string_view material, const OpticalProperties& properties);

}  // namespace raylift
