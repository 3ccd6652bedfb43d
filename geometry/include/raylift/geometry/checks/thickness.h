// SPDX-License-Identifier: Apache-2.0
// How thick solids are, and whether positions of photons are resolved finely enough for that.
#pragma once

#include <raylift/geometry/progress.h>
#include <raylift/geometry/resolution.h>
#include <raylift/geometry/scene/scene.h>

#include <cstdint>
#include <vector>

namespace raylift {

struct ThicknessReport {
  struct Options {
    /// Rays in all, at most. Meshes share them by their triangles, and each gets 16 at least, whatever the sum.
    std::uint64_t rays = 1'000'000;
    /// The step of positions, as a part of the scene's largest coordinate: kPositionStep or kFloatPositionStep.
    double position_step = kPositionStep;
  };

  /// The thickness of solids that are alike: of one mesh, of one shape and size in the world.
  struct Solids {
    /// As numbered in Scene::instances, ascending.
    std::vector<std::uint32_t> solids;
    /// The smallest distance between facing faces that a ray found, in millimetres. If the solid is not resolved, the
    /// distance that is the fewest times as large as the resolution there.
    double thickness = 0;
    /// The resolution there, in millimetres, across the faces.
    double resolution = 0;
    /// Where the ray started, on the surface of the first of the solids: in the world, millimetres.
    Double3 place;
    /// Rays from the mesh's surface.
    std::uint64_t rays = 0;

    /// Whether the thickness is right within 1 %.
    [[nodiscard]] bool resolved() const { return thickness >= kResolvedSteps * resolution; }
  };

  std::vector<Solids> found;            ///< the thinnest first
  std::uint64_t rays = 0;               ///< of all meshes; one that is placed in several shapes counts for each
  std::uint64_t measured_solids = 0;    ///< those in `found`
  std::uint64_t unmeasured_solids = 0;  ///< with triangles, but without a pair of facing faces that a ray met
  std::uint64_t unresolved_solids = 0;  ///< those in `found` that are not resolved()
};

/// Measures how thick the solids of a scene are. Light passes from one face of a solid to the facing one; this distance
/// must be a multiple of the resolution, or the solid acts as a thicker or thinner one, or not at all.
///
/// Method: rays start on the surface of each mesh, at points spread over its triangles and at random points weighted by
/// area. They run inward, against the face's normal. A ray ends at the nearest face that it meets from inside. The
/// length counts if that face's normal is opposite to the first one's within 30 degrees. It does not count if both
/// faces have a corner in common, such as at the tip of a cone or the rim of a lens: near that corner the distance
/// tends to 0, whatever the solid's size. (If all pairs that a solid has are such, the largest distance counts: a flat
/// tetrahedron.) All in double, from the mesh's vertices in its own frame: the distance is right within 1e-14 of the
/// mesh's largest coordinate there.
///
/// The thickness is an estimate from above: a spot that no ray met may be thinner. Two opposite plane faces give their
/// exact distance. So does a curved film, within the difference of its facets.
///
/// The resolution of a solid is the larger one of two steps. ThicknessReport::Options::position_step of the scene's
/// largest coordinate, relative to default_origin(), holds for all solids. If all coordinates of a mesh are floats, as
/// without Mesh::rests, these were rounded to the steps of floats there: kFloatStep of each coordinate, weighted by the
/// normal's components.
///
/// A mesh may be open, or have triangles without area. One whose normals point inward has no thickness. Solids with the
/// same mesh count as alike if their shapes and scales agree within 2e-5. Needs about 80 bytes per triangle of the
/// meshes that are measured at a time. The result is the same for any number of threads. Errors: usage (an instance of
/// a mesh that the scene does not have), malformed (a vertex that is not finite, an index out of range),
/// out_of_host_memory, cancelled.
[[nodiscard]] ThicknessReport measure_thickness(const Scene& scene, const ThicknessReport::Options& options = {},
                                                const Progress& progress = {});

}  // namespace raylift
