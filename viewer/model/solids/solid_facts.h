// SPDX-License-Identifier: Apache-2.0
// Facts of solids, alone or together: box, area, volume, counts. No GL.
#pragma once

#include <raylift/geometry/checks/check.h>
#include <raylift/geometry/progress.h>
#include <raylift/geometry/scene/scene.h>

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/settings/fact_lines.h"

namespace raylift::viewer {

/// The facts of one solid or of several. Lengths are millimetres of the world.
struct SolidFacts {
  std::uint64_t solids = 0, triangles = 0;
  Bounds box;                             ///< of their vertices, along the world's axes
  std::optional<Eigen::Vector3d> centre;  ///< of a single solid: SolidMeasurer::centre()
  double area = 0;                        ///< of all their triangles
  bool checked = false;                   ///< whether their meshes are checked; else the members below are not set
  std::uint64_t not_closed = 0;           ///< solids without a volume, because their mesh is not closed
  std::uint64_t inward = 0;               ///< closed ones whose normals point inward
  /// The sum of the volumes that the solids enclose, daughters included; none if one of them is not closed.
  std::optional<double> volume;
  /// The same sum over the solids that lie in no other of them, by the tree of solids: shared space counts
  /// once.
  std::optional<double> outer_volume;
};

[[nodiscard]] FactLines fact_lines(const SolidFacts& facts);
/// "name\npath\nkey: value\n...".
[[nodiscard]] std::string facts_text(const std::string& name, const std::string& path, const SolidFacts& facts);

/// Computes the facts of a scene's solids. Results of a mesh are cached for the mesh's other solids. Several threads
/// may use it at once.
class SolidMeasurer {
 public:
  explicit SolidMeasurer(std::shared_ptr<const Scene> scene);

  /// `check`: of the scene; null: no volumes are computed. Throws Error(cancelled) some milliseconds after `progress`
  /// cancels.
  [[nodiscard]] SolidFacts facts(std::span<const std::uint32_t> solids, const SceneCheck* check,
                                 const Progress& progress = {});
  /// The centre of a solid in the world, wherever it is turned: the centroid of the volume that its mesh encloses, or
  /// of its surface where that encloses none. Computed with the first solid of a mesh.
  [[nodiscard]] Eigen::Vector3d centre(std::uint32_t solid, const Progress& progress = {});
  /// The box of the facts alone.
  [[nodiscard]] Bounds box(std::span<const std::uint32_t> solids, const Progress& progress = {});

 private:
  /// The surface of a mesh, in its own frame and unit.
  struct Surface {
    Bounds box;
    double area = 0;
    Eigen::Matrix3d by_normal = Eigen::Matrix3d::Zero();  // the sum of area n n^T over the triangles, n their normals
    Eigen::Vector3d centre = Eigen::Vector3d::Zero();
  };
  const Surface& surface(std::uint32_t mesh, const Progress& progress);
  double area(const Instance& solid, const Progress& progress);
  double stretched_area(const Instance& solid, const Eigen::Matrix3d& gram, const Progress& progress);
  void add_volumes(std::span<const std::uint32_t> solids, const SceneCheck& check, SolidFacts& facts) const;

  std::shared_ptr<const Scene> scene_;
  std::mutex mutex_;  // of what follows
  std::vector<std::unique_ptr<const Surface>> surfaces_;
  std::map<std::pair<std::uint32_t, std::array<double, 6>>, double> stretched_;  // areas, by mesh and gram matrix
};

}  // namespace raylift::viewer
