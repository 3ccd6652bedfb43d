// SPDX-License-Identifier: Apache-2.0
// Names of the optics' enumerations: raylift's, and Geant4's words and numbers for them.
#pragma once

#include <raylift/geometry/optics/surface_between.h>
#include <raylift/geometry/scene/optics.h>

#include <optional>
#include <string>
#include <string_view>

namespace raylift::inline v0_1 {

/// "unified"; of a finish that belongs to look-up tables, its number.
[[nodiscard]] std::string_view to_string(SurfaceModel model);
[[nodiscard]] std::string to_string(SurfaceFinish finish);
[[nodiscard]] std::string_view to_string(SurfaceType type);
/// "skin of the solid entered".
[[nodiscard]] std::string_view to_string(SurfaceRule rule);

/// By raylift's names, by Geant4's ("polishedfrontpainted", "dielectric_LUT"), whose case and underscores do not count,
/// or by Geant4's number. Nothing for any other text.
[[nodiscard]] std::optional<SurfaceModel> surface_model(std::string_view text);
[[nodiscard]] std::optional<SurfaceFinish> surface_finish(std::string_view text);
[[nodiscard]] std::optional<SurfaceType> surface_type(std::string_view text);

}  // namespace raylift::inline v0_1
