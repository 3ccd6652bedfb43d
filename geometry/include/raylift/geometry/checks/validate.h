// SPDX-License-Identifier: Apache-2.0
// Checks a scene that a program has built. Scenes from load() are valid.
#pragma once

#include <raylift/geometry/scene/scene.h>

namespace raylift {

/// Checks all indices (of vertices, meshes, bindings, materials, nodes, volumes, surfaces, channels), that vertices and
/// transforms are finite, that a mesh's parts cover its triangles, that parents stand before their children, and that
/// optical properties are in their ranges: tables ascend, probabilities are from 0 to 1, RINDEX is positive. The error
/// of a property names the material or surface, the key and the point. Scene::bounds may be empty: upload() computes
/// them then. Every upload() of a scene calls this. Throws Error(usage), which names the first fault. Parallel.
void validate(const Scene& scene);

}  // namespace raylift
