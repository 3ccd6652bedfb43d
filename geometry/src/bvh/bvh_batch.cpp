// SPDX-License-Identifier: Apache-2.0
// Many rays at once on the host: the choice of instructions, and the baseline's loop.
#include "bvh/bvh_batch.h"

#include "bvh_lanes.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

namespace raylift {
namespace bvh {

std::size_t trace_portable(const BvhView& bvh, BvhLevels levels, const Ray* rays, Hit* hits, std::size_t count) {
  using namespace bvh_detail;
  for (std::size_t i = 0; i < count; ++i)
    hits[i] =
        hit_of(bvh, rays[i],
               levels == BvhLevels::scene ? nearest<true>(bvh, rays[i], Any()) : nearest<false>(bvh, rays[i], Any()));
  return 0;
}

}  // namespace bvh

void closest_hits(const BvhView& bvh, BvhLevels levels, std::span<const Ray> rays, std::span<Hit> hits) {
  const auto trace = bvh::has_avx512() ? bvh::trace_avx512 : bvh::has_avx2() ? bvh::trace_avx2 : bvh::trace_portable;
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, rays.size(), 1024), [&](const auto& range) {
    trace(bvh, levels, rays.data() + range.begin(), hits.data() + range.begin(), range.size());
  });
}

}  // namespace raylift
