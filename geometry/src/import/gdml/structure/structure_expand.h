// SPDX-License-Identifier: Apache-2.0
// From the graph of volumes to the tree of a scene.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "import/document.h"
#include "structure.h"

namespace raylift::gdml {

/// For each volume, whether it is the world or somewhere in it. Throws Error(limit) where the world is larger than the
/// limits allow, without expanding it. `file` is for messages.
[[nodiscard]] std::vector<bool> volumes_in_world(const Detector& detector, const LoadLimits& limits,
                                                 const std::string& file);

/// Writes Scene: nodes, volumes, materials, bindings and instances. meshes: by solid, the number of its mesh; or kNone
/// for those that are left out, with all instances, but not with what is in these. `bytes` are those of the file.
void expand_structure(const Detector& detector, const std::vector<std::uint32_t>& meshes, const LoadLimits& limits,
                      std::uint64_t bytes, Scene& scene);

}  // namespace raylift::gdml
