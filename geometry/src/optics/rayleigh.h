// SPDX-License-Identifier: Apache-2.0
// Rayleigh scattering that a file implies, as Geant4 computes it.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <optional>
#include <string_view>

namespace raylift::detail {

/// The table RAYLEIGH that G4OpRayleigh (Geant4 11.4) computes for a material with RINDEX and without RAYLEIGH, at the
/// points of RINDEX, by the Einstein-Smoluchowski formula: from ISOTHERMAL_COMPRESSIBILITY (mm3/MeV) at TEMPERATURE (K,
/// 293.15 where there is none), times RS_SCALE_FACTOR. The material "Water" has 7.658e-23 m3/MeV where it states none,
/// and 283.15 K always. Nothing where Geant4 computes none. The values of RINDEX are valid.
[[nodiscard]] std::optional<OpticalTable> computed_rayleigh(std::string_view material,
                                                            const OpticalProperties& properties);

/// Adds the tables that the scene's materials have no RAYLEIGH for.
void add_rayleigh(Scene& scene);

}  // namespace raylift::detail
