// SPDX-License-Identifier: Apache-2.0
#include "closed_rays.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include "closed_rays_kernels.h"
#include "random_ray.h"

namespace raylift::bench {

void make_random_rays(const Device& device, Ray* rays, std::uint64_t first, std::size_t count, double radius,
                      const Stream& stream) {
  if (!device.info().is_host) return launch_random_rays(rays, first, count, radius, stream.handle());
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, 4096), [&](const auto& range) {
    for (std::size_t i = range.begin(); i != range.end(); ++i) rays[i] = random_ray(first + i, radius);
  });
}

void count_hits(const Device& device, const Hit* hits, std::size_t count, HitCounts* counts, const Stream& stream) {
  if (!device.info().is_host) return launch_count_hits(hits, count, counts, stream.handle());
  const HitCounts found = tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, count, 4096), HitCounts{},
      [&](const auto& range, HitCounts sum) {
        for (std::size_t i = range.begin(); i != range.end(); ++i) {
          if (!hits[i].valid())
            ++sum.missed;
          else if (hits[i].from_inside == 0)
            ++sum.from_outside;
        }
        return sum;
      },
      [](const HitCounts& a, const HitCounts& b) {
        return HitCounts{a.missed + b.missed, a.from_outside + b.from_outside};
      });
  counts->missed += found.missed;
  counts->from_outside += found.from_outside;
}

#ifndef RAYLIFT_WITH_CUDA
void launch_random_rays(Ray*, std::uint64_t, std::size_t, double, void*) {}
void launch_count_hits(const Hit*, std::size_t, HitCounts*, void*) {}
#endif

}  // namespace raylift::bench
