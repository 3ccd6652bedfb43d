// SPDX-License-Identifier: Apache-2.0
// Triangles joined two by two along shared edges: what the leaves of a Bvh hold.
#pragma once

#include <raylift/geometry/bvh/bvh_format.h>
#include <raylift/geometry/progress.h>
#include <raylift/geometry/raw_vector.h>

#include <span>

namespace raylift::inline v0_1::bvh {

/// Pairs each triangle with at most one neighbour: within blocks of consecutive triangles, and what is left over within
/// blocks of triangles that are near to each other in space. Checks indices and vertices.
[[nodiscard]] RawVector<PairIds> pair_triangles(std::span<const Float3> vertices, std::span<const UInt3> triangles,
                                                bool pair, const Progress& progress);

/// The vertices of a pair, as leaves store them.
[[nodiscard]] TrianglePair pair_vertices(std::span<const Float3> vertices, std::span<const UInt3> triangles,
                                         PairIds ids);

}  // namespace raylift::inline v0_1::bvh
