// SPDX-License-Identifier: Apache-2.0
// Points near the cursor that measuring prefers: vertices and edges of surfaces, and centres of solids. No GL.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "meshes/feature_edges.h"
#include "state/shown/shown_scene.h"

namespace raylift::viewer {

struct SnapPoint {
  enum class To { face, edge, vertex, centre };
  To to = To::face;
  Eigen::Vector3d point{0, 0, 0};  ///< in the world, mm
};

/// Finds them, and keeps the edges of meshes that were asked for.
class Snapping {
 public:
  static constexpr double kReach = 9;  ///< pixels between the cursor and what it snaps to

  /// The vertex or centre, or else the edge, that is nearest to the cursor in the image and within reach, of the solids
  /// that were met at the cursor (the first of `picked`, if there is one) and around it. Else the point of the surface
  /// at the cursor, where `at_cursor`. Edges are feature edges, vertices their ends and the corners of the triangles
  /// met.
  [[nodiscard]] std::optional<SnapPoint> find(const ShownScene& shown, std::span<const Picked> picked, bool at_cursor,
                                              const Cursor& cursor);
  /// To be called for another scene.
  void forget() { edges_.clear(); }

 private:
  const std::vector<FeatureEdge>& edges_of(const Scene& scene, std::uint32_t mesh);

  std::map<std::uint32_t, std::vector<FeatureEdge>> edges_;  // by mesh
};

}  // namespace raylift::viewer
