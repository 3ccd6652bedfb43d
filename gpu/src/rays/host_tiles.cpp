// SPDX-License-Identifier: Apache-2.0
#include "rays/host_tiles.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>

#include "rays/one_thread.h"

namespace raylift::rows {
namespace {

/// The lanes of a group in the order in which they are traced: its left half of 4 x 4 rays, then the right one.
constexpr std::array<std::uint8_t, kGroup> kInHalves = [] {
  std::array<std::uint8_t, kGroup> lanes{};
  for (std::uint32_t i = 0; i < kGroup; ++i)
    lanes[i] = static_cast<std::uint8_t>(i % 16 / 4 * kTileWidth + i / 16 * 4 + i % 4);
  return lanes;
}();

/// Groups that are traced at once by a thread.
constexpr std::uint64_t kGroupsAtOnce = 32;

void trace_groups(const BvhView& bvh, BvhLevels levels, std::span<const Ray> rays, std::span<Hit> hits,
                  const Groups& groups, std::uint64_t begin, std::uint64_t end) {
  constexpr std::size_t kMax = kGroupsAtOnce * kGroup;
  std::array<Ray, kMax> some;
  std::array<Hit, kMax> found;
  std::array<std::uint64_t, kMax> from;
  std::size_t n = 0;
  for (std::uint64_t group = begin; group != end; ++group)
    for (const std::uint8_t lane : kInHalves) {
      const std::uint64_t ray = groups.ray(group, lane);
      if (ray >= groups.count) continue;
      some[n] = rays[ray];
      from[n] = ray;
      ++n;
    }
  closest_hits(bvh, levels, std::span(some).first(n), std::span(found).first(n));
  for (std::size_t i = 0; i != n; ++i) hits[from[i]] = found[i];
}

}  // namespace

void closest_hits_in_tiles(const BvhView& bvh, BvhLevels levels, std::span<const Ray> rays, std::span<Hit> hits) {
  const bool many = rays.size() >= kFewestOnHost && rays.size() <= kMaxRays;
  const std::uint32_t width = many ? find_width(rays.data(), rays.size(), OneThread<64>()) : 0;
  if (width == 0) return closest_hits(bvh, levels, rays, hits);
  const Groups groups{rays.size(), width};
  tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, groups.size(), kGroupsAtOnce), [&](const auto& range) {
    for (std::uint64_t begin = range.begin(); begin < range.end(); begin += kGroupsAtOnce)
      trace_groups(bvh, levels, rays, hits, groups, begin, std::min(range.end(), begin + kGroupsAtOnce));
  });
}

}  // namespace raylift::rows
