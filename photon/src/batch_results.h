// SPDX-License-Identifier: Apache-2.0
// The results of a batch, on any device.
#pragma once

#include <raylift/gpu/device/device.h>
#include <raylift/gpu/upload/gpu_geometry.h>

#include "ready_source.h"
#include "results_kernel.h"

namespace raylift::photon {

/// Bytes of BatchArrays::scratch.
[[nodiscard]] std::size_t scratch_bytes(const Device& device, std::size_t count);

/// Makes what `batch` asks for, in the stream's order. Errors: device.
void make_results(const GpuGeometry& geometry, const BatchArrays& batch, StreamRef stream);

/// The histories of a run's first photons. Likewise; `after_turn` as of propagate_pieces().
void make_sequences(const GpuGeometry& geometry, const ReadySource& source, const Run& run, const Outcome* outcomes,
                    Sequence* sequences, std::size_t count, StreamRef stream,
                    const std::function<void(std::size_t)>& after_turn);

/// The steps of a run's first photons, kSequenceEvents rows for each. Likewise.
void make_records(const GpuGeometry& geometry, const ReadySource& source, const Run& run, PhotonRow* rows,
                  std::size_t photons, StreamRef stream, const std::function<void(std::size_t)>& after_turn);
/// Photons whose steps are recorded at a time, 2 KiB each.
inline constexpr std::size_t kRecordedAtOnce = std::size_t{1} << 14;

}  // namespace raylift::photon
