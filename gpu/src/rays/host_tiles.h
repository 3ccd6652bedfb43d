// SPDX-License-Identifier: Apache-2.0
// Rays on the host, images in rows by tiles, as on a GPU.
#pragma once

#include "geometry/src/bvh/bvh_batch.h"

#include <cstdint>
#include <span>

namespace raylift::rows {

/// For fewer rays, looking for rows takes longer than it saves. At least what find_width needs.
inline constexpr std::uint64_t kFewestOnHost = std::uint64_t{1} << 17;

/// closest_hits, the same bits. Where the rays are an image in rows, it is traced in tiles of 4 x 4, which are packets.
void closest_hits_in_tiles(const BvhView& bvh, BvhLevels levels, std::span<const Ray> rays, std::span<Hit> hits);

}  // namespace raylift::rows
