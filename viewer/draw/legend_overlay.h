// SPDX-License-Identifier: Apache-2.0
// Legends drawn over an image that is written. No GL.
#pragma once

#include <cstddef>
#include <span>

#include "draw/overlay.h"
#include "model/legend.h"

namespace raylift::viewer {

/// The most entries of a legend in an image of this height.
[[nodiscard]] std::size_t most_legend_entries(int height);

/// Adds legends in the upper right corner, one below the other. Names that are too long are truncated, and
/// entries without room are counted.
void add_legends(std::span<const Legend> legends, int width, int height, Overlay& overlay);

}  // namespace raylift::viewer
