// SPDX-License-Identifier: Apache-2.0
// Many rays through uploaded geometry, in batches that fit into memory, and what came of them.
#pragma once

#include <raylift/geometry/progress.h>
#include <raylift/gpu/upload/gpu_geometry.h>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>

#include "ray_pattern.h"

namespace raylift::batch {

/// Distances in millimetres, along rays that hit something. The same on any device and for any size of batches.
struct TraceFigures {
  std::uint64_t rays = 0;
  std::uint64_t hits = 0;
  std::uint64_t from_inside = 0;  ///< hits on the side that the normal points away from
  double sum = 0;
  float nearest = std::numeric_limits<float>::infinity();
  float farthest = 0;

  [[nodiscard]] double mean() const { return hits == 0 ? 0 : sum / static_cast<double>(hits); }
};

struct TraceRun {
  TraceFigures figures;
  std::size_t batch_rays = 0;
  double make_seconds = 0;   ///< rays, on the device or on the host
  double copy_seconds = 0;   ///< rays from the host to the device, hits back
  double trace_seconds = 0;  ///< from the launch until the last hit is written
};

/// Gets the hits of rays `first` and after, batch by batch.
using SeeHits = std::function<void(std::uint64_t first, std::span<const Hit> hits)>;

/// Traces rays 0 to count - 1. Batches get smaller where memory is short, down to 65,536 rays of 64 bytes each, before
/// it throws Error: out_of_device_memory, out_of_host_memory; device; cancelled.
[[nodiscard]] TraceRun trace_rays(const GpuGeometry& geometry, const RayMaker& make, std::uint64_t count,
                                  const Progress& progress, const SeeHits& see = {});

}  // namespace raylift::batch
