// SPDX-License-Identifier: Apache-2.0
// Making vertices at the same place one vertex.
#pragma once

#include <raylift/geometry/scene/scene.h>

namespace raylift {

/// Merges vertices of `mesh` that lie at the same place and rewrites its triangles; triangles keep their order and
/// number.
///
/// With tolerance 0 two vertices merge when their coordinates are equal (0 equals -0). With a tolerance, vertices merge
/// when a chain of vertices, each no farther than the tolerance from the next, joins them. The kept vertex of a group
/// is its first one in file order, and kept vertices stay in file order: the result is the same for any number of
/// threads. Vertices must be finite and indices in range (`load` has checked both). Parallel; throws
/// Error(out_of_host_memory).
void weld(Mesh& mesh, double tolerance = 0);

}  // namespace raylift
