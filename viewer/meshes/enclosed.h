// SPDX-License-Identifier: Apache-2.0
// Solids that opaque solids around them hide: in a photosensor, all that is within its glass. No GL.
#pragma once

#include <raylift/geometry/checks/check.h>
#include <raylift/geometry/progress.h>
#include <raylift/geometry/scene/scene.h>

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "meshes/sight.h"

namespace raylift::viewer {

/// The mother of each solid, where that is watertight and the solid lies within it, by find_overlaps(); else kNone.
/// `check` is check(scene). Errors: those of find_overlaps().
[[nodiscard]] std::vector<std::uint32_t> enclosing_solids(const Scene& scene, const SceneCheck& check,
                                                          const Progress& progress = {});

/// A ball that contains a solid, in the world.
struct SolidBall {
  Eigen::Vector3d center;
  double radius;
};
[[nodiscard]] std::vector<SolidBall> balls_around_solids(const Scene& scene);

class Enclosed {
 public:
  Enclosed() = default;
  /// `enclosing` is enclosing_solids(), or empty: nothing is hidden.
  Enclosed(const Scene& scene, std::span<const std::uint32_t> enclosing);

  /// Finds the solids that cannot be seen, where those with Look::solid are opaque. `looks` has the Look of each
  /// solid; empty: all are solid. A solid that the eye may be in, or that a clipping plane may cut, hides nothing.
  void look(const Sight& sight, std::span<const std::uint8_t> looks);
  /// 1 for each solid that others hide, else 0; empty: none is hidden.
  [[nodiscard]] std::span<const std::uint8_t> hidden() const { return hidden_; }

 private:
  std::vector<SolidBall> balls_;
  std::vector<std::uint32_t> enclosing_;
  std::vector<std::uint8_t> hides_, hidden_;
};

}  // namespace raylift::viewer
