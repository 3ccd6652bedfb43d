// SPDX-License-Identifier: Apache-2.0
// Levels of detail: simplified forms of a scene's meshes, for where they are seen small. No GL.
#pragma once

#include <raylift/geometry/checks/check.h>
#include <raylift/geometry/progress.h>
#include <raylift/geometry/scene/scene.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "meshes/draw_list.h"
#include "meshes/smooth_normals.h"

namespace raylift::viewer {

/// A ball that contains vertices, in their frame.
struct BallAround {
  Float3 center{};
  float radius = 0;
};
[[nodiscard]] BallAround ball_around(std::span<const Float3> vertices);

/// A form of a piece.
struct Level {
  float error;  ///< how far it lies from the original, mm in the mesh's frame; 0: the original itself
  /// Over the triangles of all meshes and, from MeshOffsets::triangles on, Levels::triangles.
  std::uint32_t first_triangle;
  std::uint32_t triangle_count;
};

/// A part of a mesh, or a compact piece of a large one.
struct Piece {
  BallAround ball;
  float round = 0;                ///< the radius of the sphere of the same area, at most the ball's
  std::uint32_t first_level = 0;  ///< index in Levels::levels, from fine to coarse
  std::uint32_t level_count = 0;
};

struct Levels {
  std::vector<UInt3> triangles;                ///< index the vertices over all meshes
  std::vector<std::uint32_t> triangle_meshes;  ///< of each: its mesh
  std::vector<Level> levels;
  std::vector<Piece> pieces;
  std::vector<std::uint32_t> first_piece;  ///< of each part, over all meshes, and the end
};

/// Whether a mesh is to be simplified.
using MeshChoice = std::function<bool(std::uint32_t mesh)>;
/// The meshes of so many instances that drawing them costs much more than simplifying them.
[[nodiscard]] MeshChoice often_placed(const Scene& scene);

/// Parts of other meshes have a single level. Each level has about 0.7 of the triangles of the one before, by edge
/// collapses (Garland and Heckbert, "Surface Simplification Using Quadric Error Metrics", 1997; meshoptimizer). Parts
/// of more than kLargestPiece triangles are split into pieces along a Morton curve, which keep their common borders.
/// Throws Error(cancelled) where `progress` cancels.
[[nodiscard]] Levels make_levels(const Scene& scene, const MeshOffsets& offsets, const MeshChoice& choice,
                                 const Progress& progress = {});
inline constexpr std::uint32_t kLargestPiece = 1U << 15;

/// What makes a large scene quicker to draw, and takes a while to find.
struct Detail {
  Levels levels;
  std::vector<std::uint32_t> enclosing;  ///< enclosing_solids()
  SmoothNormals normals;                 ///< with bits for the triangles of the levels; empty: not made
};

/// Makes the detail of all meshes. `check` is check(scene). Errors: cancelled, out_of_host_memory, those of
/// find_overlaps().
[[nodiscard]] Detail make_detail(const Scene& scene, const SceneCheck& check, const Progress& progress = {});

}  // namespace raylift::viewer
