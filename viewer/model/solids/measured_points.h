// SPDX-License-Identifier: Apache-2.0
// Points to measure between that are given as text: by their coordinates, or by the solids whose centres they are. No
// GL.
#pragma once

#include <Eigen/Core>
#include <string_view>

#include "model/solids/solid_facts.h"
#include "model/solids/solids.h"

namespace raylift::viewer {

/// "0,-1500,2e4", mm; or else the centre of the solid that a pattern of find() means, of a node without a solid of its
/// own the middle of the box of all below. Throws Error(usage): no solid matches, or several.
[[nodiscard]] Eigen::Vector3d find_point(const Solids& solids, SolidMeasurer& measurer, std::string_view text);

}  // namespace raylift::viewer
