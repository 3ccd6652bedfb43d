// SPDX-License-Identifier: Apache-2.0
// Rays that are generated, traced and counted on the device, so that none crosses the link.
#pragma once

#include <raylift/geometry/bvh/ray.h>
#include <raylift/gpu/device/device.h>

#include <cstddef>
#include <cstdint>

namespace raylift::bench {

struct HitCounts {
  unsigned long long missed;
  unsigned long long from_outside;  ///< hits on the side that the normal points to
};

/// rays[i] becomes random_ray(first + i, radius), in the device's memory. In stream order.
void make_random_rays(const Device& device, Ray* rays, std::uint64_t first, std::size_t count, double radius,
                      const Stream& stream);

/// Adds to *counts, which lies in the device's memory. In stream order.
void count_hits(const Device& device, const Hit* hits, std::size_t count, HitCounts* counts, const Stream& stream);

}  // namespace raylift::bench
