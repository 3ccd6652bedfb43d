// SPDX-License-Identifier: Apache-2.0
// Names of the optics' enumerations: raylift's, and Geant4's words and numbers for them.
#pragma once

#include <raylift/geometry/optics/surface_between.h>
#include <raylift/geometry/scene/optics.h>

#include <optional>
#include <string>
#include <string_view>

namespace raylift {

/// "unified"; of a finish that belongs to look-up tables, its number.
[[nodiscard]] std::string_view to_string(SurfaceModel model);
[[nodiscard]] std::string to_string(SurfaceFinish finish);
[[nodiscard]] std::string_view to_string(SurfaceType type);
/// "skin of the solid entered".
[[nodiscard]] std::string_view to_string(SurfaceChoice::Rule rule);

/// From raylift's names, Geant4's ("polishedfrontpainted", "dielectric_LUT"), regardless of case and underscores, or
/// Geant4's number. nullopt for any other text.
[[nodiscard]] std::optional<SurfaceModel> surface_model(std::string_view text);
[[nodiscard]] std::optional<SurfaceFinish> surface_finish(std::string_view text);
[[nodiscard]] std::optional<SurfaceType> surface_type(std::string_view text);

}  // namespace raylift
