// SPDX-License-Identifier: Apache-2.0
// Solids by their names.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <cstdint>
#include <string>
#include <vector>

namespace raylift {

/// The solids that a selector matches, as indices in Scene::instances, ascending. Empty if it matches none.
[[nodiscard]] std::vector<std::uint32_t> find_solids(const Scene& scene, const SolidSelector& selector);
/// The solids whose name matches the pattern, as SolidSelector::solid says: find_solids(scene, "pmt_*"). A pattern with
/// a '/' is matched with the path.
[[nodiscard]] std::vector<std::uint32_t> find_solids(const Scene& scene, const std::string& pattern);

}  // namespace raylift
