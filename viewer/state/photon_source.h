// SPDX-License-Identifier: Apache-2.0
// Loads the photons that the options ask for.
#pragma once

#include <raylift/geometry/progress.h>
#include <raylift/geometry/scene/scene.h>

#include "light/photon_set.h"
#include "state/view_options.h"

namespace raylift::viewer {

/// Loads the photons of --photons. With --photon-compare: those of them whose histories deviate from the other run's,
/// up to 100 of each history, with their steps, which are simulated again on the device. Throws Error: what
/// load_photons(), photon::compare_histories() and photon::record() do; usage where the scene is not that of the run.
[[nodiscard]] PhotonSet load_photons(const ViewOptions& options, const Scene& scene, const Progress& progress);

}  // namespace raylift::viewer
