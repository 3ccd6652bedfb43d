// SPDX-License-Identifier: Apache-2.0
// The faces that close solids where clipping planes cut them. Pure data, no GL.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "meshes/draw_list.h"
#include "model/settings/settings.h"

namespace raylift::viewer {

/// A line in a plane, in the plane's own coordinates.
struct CutLine {
  Eigen::Vector2d from, to;
};

/// A trapezoid whose parallel sides are horizontal: lower left, lower right, upper right, upper left. One of the
/// parallel sides may have no length.
using CutFace = std::array<Eigen::Vector2d, 4>;

/// Trapezoids over all points around which closed outlines run, by the even-odd rule: holes stay open. They do not
/// overlap. The lines come in any order and direction; gaps between them are filled across, or not at all. Of very many
/// lines the ends are moved to one of 8,192 heights.
void fill_outlines(std::vector<CutLine> lines, const std::function<void(const CutFace&)>& face);

/// The outlines of a solid in a plane that cuts it.
struct Cut {
  std::vector<CutLine> lines;
  Eigen::Vector2d low = Eigen::Vector2d::Constant(1e300), high = Eigen::Vector2d::Constant(-1e300);  ///< their box
  std::uint32_t triangle = kNone;  ///< one that is cut
  std::uint32_t solid = kNone;

  void add(const CutLine& line) {
    lines.push_back(line);
    low = low.cwiseMin(line.from).cwiseMin(line.to);
    high = high.cwiseMax(line.from).cwiseMax(line.to);
  }
  [[nodiscard]] double area() const { return (high - low).prod(); }
  /// Whether the other one's box lies within this one's, but for rounding.
  [[nodiscard]] bool surrounds(const Cut& other) const {
    const double slack = 1e-9 * (high - low).norm();
    return (other.low.array() >= low.array() - slack).all() && (other.high.array() <= high.array() + slack).all();
  }
};

/// A corner of a cap as the shader reads it.
struct CapVertex {
  std::array<float, 3> high, low;  ///< in the world, mm: the sum of two floats
  std::uint32_t solid;             ///< an index in Scene::instances
  std::uint32_t material;          ///< inside, an index in Scene::materials, or kNone
  std::uint32_t triangle;          ///< one that the plane cuts, over all meshes
  std::uint32_t surfaces;          ///< SolidSurfaces::packed_cap()
  std::uint32_t mesh;
  /// The plane's index, and from bit 8 on a level: that of a solid within another one is higher.
  std::uint32_t plane_and_level;
};
inline constexpr std::uint32_t kMaxLevels = 64;

/// Where a plane cuts a solid: lines in the world, in any order.
[[nodiscard]] std::vector<std::pair<Eigen::Vector3d, Eigen::Vector3d>> section_of(const Scene& scene,
                                                                                  std::uint32_t solid,
                                                                                  const ClipPlane& plane);

/// Makes caps. The scene must outlive it.
class CapMaker {
 public:
  explicit CapMaker(const Scene& scene, const MeshOffsets& offsets);

  /// Three vertices for each triangle of the caps of solids with the look `solid` or `edged`; empty looks: all are
  /// solid. `surfaces` is surfaces_of_solids(scene), or empty. A cap is not cut by the other planes.
  [[nodiscard]] std::vector<CapVertex> make(std::span<const ClipPlane> planes, std::span<const std::uint8_t> looks,
                                            std::span<const SolidSurfaces> surfaces = {}) const;

 private:
  /// The solids with these looks whose mesh's box meets a plane.
  [[nodiscard]] std::vector<std::uint32_t> near(const Eigen::Vector3d& normal, double offset,
                                                std::span<const std::uint8_t> looks) const;
  [[nodiscard]] std::vector<std::uint32_t> levels_of(std::span<const Cut> cuts) const;

  const Scene* scene_;
  std::vector<std::uint32_t> first_triangle_;
  std::vector<Bounds> mesh_bounds_;
  std::vector<std::uint32_t> depth_;  ///< of each solid in the tree of solids
};

}  // namespace raylift::viewer
