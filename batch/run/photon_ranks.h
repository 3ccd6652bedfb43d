// SPDX-License-Identifier: Apache-2.0
// raylift photons under mpirun: each rank follows a range of the photons, and rank 0 joins what they come to.
#pragma once

#include <functional>

#include "batch/actions/photon_options.h"
#include "batch/actions/photon_summary.h"
#include "mpi_messages.h"

namespace raylift::batch {

/// The rank's device, where `device` is "auto" or "all": the GPUs of a machine are dealt out to the ranks on it.
[[nodiscard]] std::string device_of_rank(const std::string& device, const RankPlace& place);

/// Does the rank's part by `follow`, which fills in its summary: a range of the photons, into DIR/rank-N. On rank 0
/// then waits for the others, joins their files in options.output and sums their counts into `summary`, and returns
/// true; the folders of the ranks stay until remove_rank_folders(). A rank that fails ends all; they go on with
/// options.resume.
[[nodiscard]] bool follow_on_ranks(Mpi& mpi, const PhotonOptions& whole, PhotonSummary& summary,
                                   const std::function<void(const PhotonOptions&)>& follow);

void remove_rank_folders(const PhotonOptions& whole, int ranks);

}  // namespace raylift::batch
