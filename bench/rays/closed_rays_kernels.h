// SPDX-License-Identifier: Apache-2.0
// The launches of closed_rays.h on CUDA. They do nothing in a build without it.
#pragma once

#include "closed_rays.h"

namespace raylift::bench {

void launch_random_rays(Ray* rays, std::uint64_t first, std::size_t count, double radius, void* stream);
void launch_count_hits(const Hit* hits, std::size_t count, HitCounts* counts, void* stream);

}  // namespace raylift::bench
