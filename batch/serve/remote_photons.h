// SPDX-License-Identifier: Apache-2.0
// A run of `raylift photons` whose photons a server simulates: the files have the same bytes.
#pragma once

#include <raylift/geometry/progress.h>

#include "batch/actions/photon_options.h"
#include "batch/actions/photon_summary.h"
#include "remote.h"

namespace raylift::batch {

/// Simulates the photons of options.source, which `there` says the number of where it has an end, into the folder of
/// options. Fills in the figures of `summary`, and returns summary.json. Throws Error: what the server refuses; io
/// where none answers; unsupported (a source that names a file with a spectrum).
[[nodiscard]] cli::Json follow_photons_remotely(client::Client& client, PhotonOptions& options,
                                                std::optional<std::uint64_t> count, const cli::Json& head,
                                                PhotonSummary& summary, const Progress& progress);

}  // namespace raylift::batch
