// SPDX-License-Identifier: Apache-2.0
// Whether a photon could leak through a mesh: its topology, orientation and volume.
#pragma once

#include <raylift/geometry/progress.h>
#include <raylift/geometry/scene/scene.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace raylift {

/// The result for one mesh. Lengths are in its own unit.
///
/// A triangle with two equal corners has no edges here: its contributions to the mesh's border cancel. A triangle
/// without area but with three different corners has edges, so a sliver can close a seam. At a T-junction, a vertex on
/// the middle of another triangle's edge, the mesh is open: rays can pass there.
struct MeshCheck {
  /// What can be wrong with a mesh. Vertices at equal coordinates count as one, whether or not they were welded.
  enum class Flaw : std::uint8_t {
    open_edge,            ///< one triangle only: the border of a hole
    nonmanifold_edge,     ///< more than two triangles
    inconsistent_edge,    ///< two triangles that run along it in the same direction: their normals disagree
    degenerate_triangle,  ///< two equal corners, or no area
    duplicate_triangle,   ///< the corners of an earlier triangle, in any order
    unreferenced_vertex,  ///< in no triangle
  };
  static constexpr std::size_t kFlaws = 6;

  /// Where a flaw lies, in the mesh's own frame and unit.
  struct Example {
    Flaw flaw;
    std::uint32_t triangle;        ///< a triangle that has it; kNone for a vertex
    std::array<Double3, 2> place;  ///< an edge's ends; the corners of a triangle's box; the vertex twice
  };

  std::uint64_t triangles = 0;
  std::uint64_t instances = 0;                 ///< solids made of it
  std::uint32_t first_instance = kNone;        ///< the first of them, in Scene::instances
  std::array<std::uint64_t, kFlaws> counts{};  ///< of each Flaw
  std::vector<Example> examples;               ///< of each flaw the first few, flaw by flaw
  std::uint64_t shells = 0;                    ///< pieces connected by edges
  std::uint64_t inward_shells = 0;             ///< closed ones of negative volume: a cavity's wall, or an error
  double area = 0;
  double volume = 0;  ///< enclosed, positive if normals point outward; only of a closed mesh
  Bounds bounds;

  [[nodiscard]] std::uint64_t count(Flaw flaw) const { return counts[static_cast<std::size_t>(flaw)]; }
  /// Each edge has two triangles of consistent orientation.
  [[nodiscard]] bool closed() const;
  /// Closed, with normals inward.
  [[nodiscard]] bool inverted() const;
  /// Closed, normals outward, with more volume than rounding explains: no ray leaks, and each crossing separates inside
  /// from outside.
  [[nodiscard]] bool watertight() const;
};

/// "open_edge", ...
[[nodiscard]] std::string_view to_string(MeshCheck::Flaw flaw) noexcept;

struct SceneCheck {
  std::vector<MeshCheck> meshes;                          ///< one for each of Scene::meshes
  std::array<std::uint64_t, MeshCheck::kFlaws> counts{};  ///< over all meshes, each once
  std::uint64_t leaking_meshes = 0;                       ///< in use, with triangles, and not watertight
  std::uint64_t leaking_instances = 0;                    ///< solids made of these

  /// Every solid that has triangles is watertight. True for a scene without any.
  [[nodiscard]] bool watertight() const { return leaking_meshes == 0; }
};

/// Checks a mesh, or every mesh of a scene, with so many examples of each flaw of a mesh, at most. The result is the
/// same for any number of threads. Needs about 60 bytes per triangle of the largest mesh. Errors: malformed (a vertex
/// that is not finite, an index out of range: meshes made by hand), limit (2^31 triangles in a mesh),
/// out_of_host_memory, cancelled.
[[nodiscard]] MeshCheck check(const Mesh& mesh, std::size_t examples = 4);
[[nodiscard]] SceneCheck check(const Scene& scene, const Progress& progress = {}, std::size_t examples = 4);

}  // namespace raylift
