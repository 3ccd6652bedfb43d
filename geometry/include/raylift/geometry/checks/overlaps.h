// SPDX-License-Identifier: Apache-2.0
// Whether solids overlap: daughters that leave their mother, and siblings that share space.
#pragma once

#include <raylift/geometry/checks/check.h>
#include <raylift/geometry/progress.h>
#include <raylift/geometry/scene/scene.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace raylift {

/// Two solids that overlap. Solids are numbered as in Scene::instances.
struct Overlap {
  /// How they overlap. Mothers and daughters are those of solid_tree(), geometry/scene/solids.h.
  enum class Kind : std::uint8_t {
    crosses_mother,     ///< a daughter lies partly outside of its mother
    outside_mother,     ///< a daughter lies wholly outside of its mother
    siblings_cross,     ///< two siblings share a part of their space
    contains_sibling,   ///< a sibling lies wholly inside of another one
    siblings_coincide,  ///< two siblings (or separate pieces of them) have the same surface, and so the same space
  };
  static constexpr std::size_t kKinds = 5;

  struct Options {
    /// Millimetres. Overlaps that are no deeper are not reported. The tolerance of a pair is at least the rounding
    /// error of its vertices as floats: 4 * 2^-23 of the largest coordinate in the meshes' own frames (in millimetres),
    /// and not less than 1e-6 mm, or than 2^-48 of the solids' distance from the world's origin.
    double tolerance = 0;
    std::size_t touching_examples = 0;  ///< maximum number of touching pairs in the list
  };

  Kind kind{};
  std::uint32_t first = 0;   ///< the daughter; the sibling that contains the other; else the one with the lower number
  std::uint32_t second = 0;  ///< the mother; the sibling inside; else the one with the higher number
  /// The deepest point found, in the world, millimetres. It lies on the surface of one of the solids; where surfaces
  /// coincide, inside both.
  Double3 place;
  /// How far `place` lies from the other solid's surface, millimetres, on the side where it must not be. Where surfaces
  /// coincide: how deep it lies in the solids.
  double depth = 0;
  /// No point of either surface is deeper. Within 1 % of depth where the search came to its end within its budget.
  double depth_at_most = 0;
  /// How deep two solids that only touch may overlap, as their facets lie off the true surfaces, millimetres: from
  /// Mesh::deviation of both. 0 where the facets are the surfaces.
  double facets = 0;
  /// Pairs of the same two meshes, placed to each other in the same way, of which this one is the first.
  std::uint64_t pairs = 1;
};

/// "crosses_mother", ...
[[nodiscard]] std::string_view to_string(Overlap::Kind kind) noexcept;

struct OverlapReport {
  /// True overlaps, the deepest first: deeper than their `facets`, or of surfaces that coincide.
  std::vector<Overlap> overlaps;
  /// Overlaps that are no deeper than their `facets`, the deepest first. The facets overlap; the solids touch, or
  /// overlap by as little.
  std::vector<Overlap> by_tessellation;
  /// Pairs that touch, the first few: Overlap::Options::touching_examples.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> touching;

  std::uint64_t solids = 0;              ///< with triangles
  std::uint64_t untested_solids = 0;     ///< of these, without an inside: not watertight, or flat by their transform
  std::uint64_t pairs = 0;               ///< daughter and mother, and siblings whose boxes meet; both with an inside
  std::uint64_t tests = 0;               ///< made for these pairs: one for all that are alike
  std::uint64_t overlapping_pairs = 0;   ///< those in `overlaps`, all that are alike counted
  std::uint64_t tessellation_pairs = 0;  ///< those in `by_tessellation`, likewise
  std::uint64_t touching_pairs = 0;      ///< surfaces meet within the tolerance, and nothing overlaps
  std::uint64_t undecided_pairs = 0;     ///< of the touching ones: too intricate to exclude an overlap
};

/// Finds the solids that overlap: (a) a daughter has to lie in its mother, (b) siblings, the solids with the same
/// mother or without any, must have no space in common. Solids that touch, by faces, edges or vertices, do not overlap.
///
/// Method: pairs whose boxes meet; the edges of each solid are cut where they cross the facets of the other one, and
/// every piece is classified by the winding number at its middle. All in double, in a frame whose origin is near to the
/// pair.
///
/// What is guaranteed, for solids whose meshes are watertight by `check` and a tolerance e of the pair:
/// - If an edge or vertex of one solid lies more than 3 e on the wrong side of the other one's surface, an overlap is
///   found, or the pair is counted as undecided. Solids whose facets cross always have such an edge, though perhaps not
///   as deep: where a plate thinner than 3 e is pierced, for instance.
/// - This covers a solid inside its sibling and a daughter outside of its mother. Solids whose surfaces coincide are
///   found if they are thicker than 3 e.
/// - Nothing is reported whose depth is e or less.
/// - `depth` is the distance at `place` (of surfaces that do not coincide), within rounding. The deepest point lies
///   between `depth` and `depth_at_most`; the latter is a loose bound where many facets run close to each other.
///
/// Facets that stand for curved surfaces (Mesh::deviation) lie up to a part of the chord beyond or behind them. So a
/// daughter that touches its mother may stick out by its own `outward` and the mother's `inward`, and siblings that
/// touch may overlap by the `outward` of both. What is no deeper is listed apart. All of the above is said of facets,
/// and of both lists together.
///
/// Not guaranteed: a solid that is not watertight has no inside and is not tested (untested_solids). The inside of a
/// mesh that crosses itself is the set of points with a winding number above 0. Pairs count as alike if their relative
/// transforms agree within e / 32 and their scales within 2e-5; their depths may differ by as much.
///
/// Needs about 100 bytes per unique triangle. The result is the same for any number of threads. Errors: those of check
/// and solid_tree, usage (an instance of a mesh that the scene does not have; `check` is of another scene; a tolerance
/// that is negative or not finite), limit (more than 2^30 triangles in a mesh), out_of_host_memory, cancelled.
[[nodiscard]] OverlapReport find_overlaps(const Scene& scene, const Overlap::Options& options = {},
                                          const Progress& progress = {});
/// The same, with the result of check(scene) where it is known already.
[[nodiscard]] OverlapReport find_overlaps(const Scene& scene, const SceneCheck& check,
                                          const Overlap::Options& options = {}, const Progress& progress = {});

}  // namespace raylift
