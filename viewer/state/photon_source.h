// SPDX-License-Identifier: Apache-2.0
// Reads the photons of a file, and simulates again those whose histories deviate from another run's.
#pragma once

#include <raylift/geometry/progress.h>
#include <raylift/geometry/scene/scene.h>

#include "light/photon_set.h"
#include "state/options/view_options.h"

namespace raylift::viewer {

/// The photons of the origin's file. With a run to compare: only photons whose histories deviate from that run's, up to
/// 100 of each history, with their steps, which are simulated again on the device. Throws Error: what load_photons(),
/// photon::compare_histories() and photon::record() do; usage where the scene is not that of the run.
[[nodiscard]] PhotonSet load_photons(const LightOrigin& origin, const ViewOptions& options, const Scene& scene,
                                     const Progress& progress);

}  // namespace raylift::viewer
