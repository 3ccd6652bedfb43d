// SPDX-License-Identifier: Apache-2.0
// The edges that make a mesh's outline: where its faces meet at an angle, or end. No GL.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <vector>

namespace raylift::viewer {

/// Two points for each edge, in the mesh's frame: edges of one triangle, or of triangles that meet at 40 degrees or
/// more. Triangles meet where the positions of their vertices are equal.
[[nodiscard]] std::vector<Float3> feature_edges(const Mesh& mesh);

}  // namespace raylift::viewer
