// SPDX-License-Identifier: Apache-2.0
// Chroma's flags of a photon's history, for those of Opticks.
#pragma once

#include <raylift/photon/results.h>

#include <cstdint>

namespace raylift::photon {

/// Chroma's flags (chroma/cuda/photon.h) for those of Opticks. It has none for a passage between dielectrics.
[[nodiscard]] constexpr std::uint32_t chroma_flags(std::uint32_t flags) {
  using namespace opticks;
  constexpr struct {
    std::uint32_t opticks, chroma;
  } kFlags[]{{kMiss, 1U << 0},          {kBulkAbsorb, 1U << 1},  {kSurfaceDetect, 1U << 2},
             {kSurfaceAbsorb, 1U << 3}, {kBulkScatter, 1U << 4}, {kBoundaryReflect, 1U << 6},
             {kBulkReemit, 1U << 9},    {kCerenkov, 1U << 10},   {kScintillation, 1U << 11},
             {kNanAbort, 1U << 31}};
  std::uint32_t result = 0;
  for (const auto& flag : kFlags)
    if ((flags & flag.opticks) != 0) result |= flag.chroma;
  return result;
}

}  // namespace raylift::photon
