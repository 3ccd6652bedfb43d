// SPDX-License-Identifier: Apache-2.0
// The optical properties that raylift reads, by Geant4's keys: their units, their limits, and which are honoured.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace raylift {

enum class PropertyOf : std::uint8_t { material, surface };

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

/// The ranges of a table.
struct TableRange {
  double least, most;  ///< of its values
  double shortest_nm, longest_nm;
};
/// The table has at least one point.
[[nodiscard]] TableRange range_of(const OpticalTable& table);

/// "material 'Water'": for messages.
[[nodiscard]] std::string property_owner(PropertyOf of, std::string_view owner);

/// A property of a scene that the simulation does not honour.
struct UnhonouredProperty {
  PropertyOf of;
  std::string owner;  ///< name of the material or surface
  std::string key;    ///< of the property; "model" or "finish" where that is not honoured
  std::string why;
};

/// Every property in the scene that is not honoured: of an unknown key, of a key that is only read, and models and
/// finishes of look-up tables.
[[nodiscard]] std::vector<UnhonouredProperty> unhonoured_properties(const Scene& scene);

/// Whether a material's RAYLEIGH is the table that LoadOptions::compute_rayleigh adds.
[[nodiscard]] bool has_computed_rayleigh(std::string_view material, const OpticalProperties& properties);

/// Checks what readers have filled in, before resolve_optics(). Throws Error(malformed), naming material or surface,
/// key and value: energies or wavelengths that are not positive and ascending, a table of no points or of one, values
/// outside of their quantity's limits, probabilities of one surface that sum to more than 1 (by 1e-6) anywhere, a key
/// that occurs twice, a polish outside of 0 to 1. Adds warnings to Scene::report: a surface that nothing uses, a
/// property that is not honoured, a table without a point from 20 to 5000 nm, with the unit that it may be in.
void check_optical_properties(Scene& scene);

}  // namespace raylift
