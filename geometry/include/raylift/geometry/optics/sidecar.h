// SPDX-License-Identifier: Apache-2.0
// A scene's optics as text that people edit: the sidecar scene.optics.json, which load() lays over a scene.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <string>

namespace raylift::inline v0_1 {

/// The first half of Scene::optics, what readers fill in, as a sidecar: docs/optics.schema.json. Laid over the same
/// scene without optics of its own, it gives the same materials, surfaces, assignments and channels to the last bit.
/// Surfaces that share a name get a number behind it. Errors: unsupported (a name that is not UTF-8; two materials of
/// one name with different properties).
[[nodiscard]] std::string optics_json(const Scene& scene);

}  // namespace raylift::inline v0_1
