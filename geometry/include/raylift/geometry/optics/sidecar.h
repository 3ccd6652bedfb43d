// SPDX-License-Identifier: Apache-2.0
// A scene's optics as editable text: the sidecar scene.optics.json, which load()
// applies to a scene.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <string>

namespace raylift {

/// The part of Scene::optics that readers fill in, as a sidecar: docs/optics.schema.json. Applied to the same scene
/// without optics of its own, it gives the same materials, surfaces, assignments and channels bit for bit. Surfaces
/// that share a name get a number as a suffix. Errors: unsupported (a name that is not UTF-8; two materials of one name
/// with different properties).
[[nodiscard]] std::string optics_json(const Scene& scene);

}  // namespace raylift
