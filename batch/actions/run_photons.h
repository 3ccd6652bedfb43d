// SPDX-License-Identifier: Apache-2.0
// A run of photons into files, from where it begins or was stopped.
#pragma once

#include <raylift/geometry/progress.h>
#include <raylift/gpu/upload/gpu_geometry.h>

#include <span>

#include "cli/output.h"
#include "photon_options.h"
#include "photon_summary.h"

namespace raylift::batch {

/// On one device or on several, which take batches by turns: the files are the same. Writes the folder options.output.
/// Fills in the figures of `summary`, which has the names already, and returns what its summary.json holds. `head` is
/// photon_head(). Throws what photon::Simulation and PhotonFiles do; a run that was stopped goes on with
/// options.resume.
[[nodiscard]] cli::Json run_photons(std::span<const GpuGeometry> geometries, const PhotonOptions& options,
                                    const cli::Json& head, PhotonSummary& summary, const Progress& progress);

}  // namespace raylift::batch
