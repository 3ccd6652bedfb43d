// SPDX-License-Identifier: Apache-2.0
// How photons are drawn, as JSON: bookmarks keep it, and the verb `state` tells it. No GL.
#pragma once

#include <nlohmann/json.hpp>

#include "model/photon_settings.h"

namespace raylift::viewer {

[[nodiscard]] nlohmann::ordered_json photon_json(const PhotonSettings& light);
/// The settings that photon_json() told; what is left out is as by default. Throws Error(usage) for what options would
/// refuse, and what nlohmann's library throws for another type.
[[nodiscard]] PhotonSettings photon_settings(const nlohmann::ordered_json& json);

/// An object with what there is of an origin; empty where there is no light.
[[nodiscard]] nlohmann::ordered_json origin_json(const LightOrigin& origin);
[[nodiscard]] LightOrigin light_origin(const nlohmann::ordered_json& json);

}  // namespace raylift::viewer
