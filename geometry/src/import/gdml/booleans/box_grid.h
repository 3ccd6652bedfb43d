// SPDX-License-Identifier: Apache-2.0
// Operations on boxes along the axes alone, on the grid of all their planes: exact, and quick for thousands of boxes.
#pragma once

#include <cstdint>
#include <optional>

#include "csg.h"

namespace raylift::gdml {

/// The surface of a tree of boxes along the axes; empty if the tree leaves nothing. None where another primitive
/// occurs, or where the grid has more than `most_cells` cells. Planes nearer to each other than `same` count as one.
[[nodiscard]] std::optional<Surface> box_grid(const Csg& csg, double same, std::uint64_t most_cells = 50'000'000);

}  // namespace raylift::gdml
