// SPDX-License-Identifier: Apache-2.0
// Triangles joined two by two along shared edges: what the leaves of a Bvh hold.
#pragma once

#include <raylift/geometry/bvh/bvh_format.h>
#include <raylift/geometry/detail/raw_vector.h>
#include <raylift/geometry/progress.h>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace raylift::bvh {

/// Pairs each triangle with at most one neighbour: within blocks of consecutive triangles, and what is left over within
/// blocks of triangles that are near to each other in space. Checks indices and vertices.
[[nodiscard]] RawVector<bvh_detail::PairIds> pair_triangles(std::span<const Float3> vertices,
                                                            std::span<const UInt3> triangles, bool pair,
                                                            const Progress& progress);

/// Which vertices a pair has, as leaves store them.
using PairCorners = std::array<std::uint32_t, 4>;
[[nodiscard]] PairCorners pair_corners(std::span<const UInt3> triangles, bvh_detail::PairIds ids);

/// The vertices at these corners.
[[nodiscard]] bvh_detail::TrianglePair pair_vertices(std::span<const Float3> vertices, const PairCorners& corners);

/// Calls use(i, ids(i), pair) for each i in [0, count), in parallel, with the vertices of the pair ids(i). Each of the
/// reads that depend on each other is made for several pairs, so that they wait for memory together.
template <class Ids, class Use>
void for_pairs(std::span<const Float3> vertices, std::span<const UInt3> triangles, std::size_t count, const Ids& ids,
               const Use& use) {
  constexpr std::size_t kTogether = 16;
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, 1 << 12), [&](const auto& range) {
    std::array<bvh_detail::PairIds, kTogether> found;
    std::array<PairCorners, kTogether> corners;
    for (std::size_t begin = range.begin(); begin < range.end(); begin += kTogether) {
      const std::size_t n = std::min(kTogether, range.end() - begin);
      for (std::size_t i = 0; i < n; ++i) found[i] = ids(begin + i);
      for (std::size_t i = 0; i < n; ++i) corners[i] = pair_corners(triangles, found[i]);
      for (std::size_t i = 0; i < n; ++i) use(begin + i, found[i], pair_vertices(vertices, corners[i]));
    }
  });
}

}  // namespace raylift::bvh
