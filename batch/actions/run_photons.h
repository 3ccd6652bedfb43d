// SPDX-License-Identifier: Apache-2.0
// A run of photons into files, from where it begins or was stopped.
#pragma once

#include <raylift/geometry/progress.h>
#include <raylift/gpu/upload/gpu_geometry.h>
#include <raylift/photon/load_source.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "cli/output.h"
#include "photon_options.h"
#include "photon_summary.h"

namespace raylift::batch {

/// Follows the photons on one device, or on several, which take batches by turns: the files are the same. Each geometry
/// has its source. Writes the arrays of rows to options.output, and keeps the checkpoint; `head` is photon_head().
/// Fills in the figures of `summary`. Throws what photon::Simulation and PhotonFiles do; a run that was stopped goes on
/// with options.resume.
void follow_photons(std::span<const GpuGeometry> geometries, std::span<const photon::LoadedSource> sources,
                    const PhotonOptions& options, const cli::Json& head, PhotonSummary& summary,
                    const Progress& progress);

/// Whether options ask for steps.
[[nodiscard]] bool wants_record(const PhotonOptions& options);
/// Gives the steps of `photons` photons from number `first` on. It calls advance() with the number of those that are
/// recorded, often enough for an interrupt to end it.
using RecordSteps = std::function<std::vector<photon::PhotonRow>(std::uint64_t first, std::size_t photons,
                                                                 const std::function<void(std::size_t)>& advance)>;
/// Writes record.npy.
void write_record(const PhotonOptions& options, const Progress& progress, const RecordSteps& record);

/// What comes after that: records, counts, and summary.json, whose contents are returned.
[[nodiscard]] cli::Json finish_photons(const GpuGeometry& geometry, const photon::Source& source,
                                       const PhotonOptions& options, const cli::Json& head, PhotonSummary& summary,
                                       const Progress& progress);

}  // namespace raylift::batch
