// SPDX-License-Identifier: Apache-2.0
// Where the photons come from that the options ask for.
#pragma once

#include <raylift/geometry/progress.h>
#include <raylift/geometry/scene/scene.h>

#include "light/photon_set.h"
#include "state/view_options.h"

namespace raylift::viewer {

/// Those of --photons; with --photon-compare, of these the ones whose histories deviate from the other run's: up to 100
/// of each history, and their steps, followed again on the device. Throws Error: what load_photons(),
/// photon::compare_histories() and photon::record() do; usage where the scene is not that of the run.
[[nodiscard]] PhotonSet load_photons(const ViewOptions& options, const Scene& scene, const Progress& progress);

}  // namespace raylift::viewer
