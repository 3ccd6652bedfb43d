// SPDX-License-Identifier: Apache-2.0
// Builds the bounding volume hierarchy of a mesh on the host.
#pragma once

#include <raylift/geometry/bvh/bvh_format.h>
#include <raylift/geometry/detail/raw_vector.h>
#include <raylift/geometry/progress.h>

#include <cstdint>
#include <span>
#include <vector>

namespace raylift {

/// The BVH of one mesh; see bvh_format.h. Nodes are stored level by level, so the ones that rays visit most come first.
struct Bvh {
  struct Options {
    bool pair_triangles = true;  ///< false: one triangle per TrianglePair, for comparison
    /// Maximum pairs under a slot, 1 to kBvhMaxLeafPairs; the builder chooses the number of least expected cost.
    std::uint32_t leaf_pairs = 3;
  };

  RawVector<bvh_detail::BvhNode> nodes;
  RawVector<bvh_detail::TrianglePair> pairs;
  RawVector<bvh_detail::PairIds> ids;
  std::vector<std::uint32_t> level_ends;  ///< where each level of nodes ends; at most kBvhMaxDepth levels

  [[nodiscard]] BvhView view() const {
    const auto node_count = static_cast<std::uint32_t>(nodes.size()),
               pair_count = static_cast<std::uint32_t>(pairs.size());
    return {nodes.data(), pairs.data(), ids.data(), node_count, pair_count, 0, 0, 0};
  }
  /// The size of nodes, vertices and numbers together.
  [[nodiscard]] std::uint64_t bytes() const {
    return nodes.size() * sizeof(bvh_detail::BvhNode) +
           pairs.size() * (sizeof(bvh_detail::TrianglePair) + sizeof(bvh_detail::PairIds));
  }
};

/// Builds by the surface area heuristic over bins, in parallel under TBB; the result is the same for any number of
/// threads. Accepts any triangles: none, one, coincident ones, ones without area. Triangles are paired if they share an
/// edge by its indices, with consistent windings; so weld first. Any order of triangles works, but builds are faster if
/// neighbours are close to each other in it. Needs about 70 bytes per triangle besides the result. Errors: malformed (a
/// vertex that is not finite, an index out of range), limit (more than 2^30 triangles, a coordinate beyond 1e18, a mesh
/// smaller than 1e-15), usage, out_of_host_memory, cancelled.
[[nodiscard]] Bvh build_bvh(std::span<const Float3> vertices, std::span<const UInt3> triangles,
                            const Bvh::Options& options = {}, const Progress& progress = {});

}  // namespace raylift
