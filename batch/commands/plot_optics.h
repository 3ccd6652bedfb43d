// SPDX-License-Identifier: Apache-2.0
// Images of a scene's optical tables.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <string>

#include "cli/session.h"

namespace raylift::batch {

/// Draws each table as an SVG file in a folder, which is made where there is none, by the script raylift-plot-optics.
/// Returns what the script says: one line. Throws Error: system (neither matplotlib nor gnuplot is there), io,
/// cancelled.
[[nodiscard]] std::string plot_optics(const Scene& scene, const std::string& folder, const cli::Session& session);

}  // namespace raylift::batch
