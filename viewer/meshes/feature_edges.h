// SPDX-License-Identifier: Apache-2.0
// The edges that make a mesh's outline: where its faces meet at an angle, or end. No GL.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <cstdint>
#include <span>
#include <vector>

#include "meshes/draw_list.h"

namespace raylift::viewer {

/// An edge of a mesh: its two vertices, and the first triangle that has it.
struct FeatureEdge {
  std::uint32_t from, to;
  std::uint32_t triangle;
};
/// The edges of one triangle, or of triangles that meet at 40 degrees or more, by their triangles. Triangles meet where
/// the positions of their vertices are equal.
[[nodiscard]] std::vector<FeatureEdge> feature_edges(const Mesh& mesh);

/// Any edge of a mesh: its vertices, the first two triangles that have it, and whether it is a feature edge.
struct MeshEdge {
  std::uint32_t from, to;
  std::uint32_t first, second;  ///< second: kNone at a border, and where more than two triangles meet
  bool feature;
};
[[nodiscard]] std::vector<MeshEdge> mesh_edges(const Mesh& mesh);

/// The feature edges of those of a scene's meshes that were added, as an index buffer of lines.
class FeatureEdges {
 public:
  FeatureEdges() = default;
  explicit FeatureEdges(const Scene& scene);

  /// The edges of a part.
  struct EdgeRun {
    std::uint32_t first = 0, count = 0;
  };
  /// Finds the edges of these meshes, in parallel. Throws Error(limit) where 32-bit indices can't address them.
  void add(const Scene& scene, const MeshOffsets& offsets, std::span<const std::uint32_t> meshes);
  /// The edges of a part, numbered over all meshes.
  [[nodiscard]] const EdgeRun& run(std::uint32_t part) const { return runs_[part]; }
  /// Two vertices for each edge, and its triangle, over all meshes.
  [[nodiscard]] std::span<const std::uint32_t> vertices() const { return vertices_; }
  [[nodiscard]] std::span<const std::uint32_t> triangles() const { return triangles_; }

 private:
  std::vector<std::uint32_t> first_part_;  // of each mesh
  std::vector<bool> added_;                // by mesh
  std::vector<EdgeRun> runs_;
  std::vector<std::uint32_t> vertices_, triangles_;
};

/// What draws the feature edges of a draw list: records of glMultiDrawElementsIndirect for lines. A slot's
/// first_triangle is its first edge.
struct LineList {
  std::vector<DrawSlot> slots;
  std::vector<DrawCommand> commands;

  /// The most lines of a command.
  static constexpr std::uint32_t kMaxLines = 1U << 14;
};
/// The meshes that a list draws must have been added.
[[nodiscard]] LineList line_list(const FeatureEdges& edges, const DrawList& list);

}  // namespace raylift::viewer
