// SPDX-License-Identifier: Apache-2.0
// The part of the world that an image shows, and how large. No GL.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "cli/camera.h"
#include "model/settings/settings.h"

namespace raylift::viewer {

inline constexpr std::uint64_t kAllTriangles = std::numeric_limits<std::uint64_t>::max();

/// The planes have unit normals and are relative to the eye: points p with xyz . p + w < 0 are not visible.
struct Sight {
  Eigen::Vector3d eye, forward;
  std::vector<Eigen::Vector4d> sides;  ///< of the image
  std::vector<Eigen::Vector4d> clips;  ///< of the settings; none of a box that is cut away
  double pixels = 0;                   ///< that a millimetre fills: at depth 1 mm, or orthographic at any depth
  double nearest = 0;  ///< all that is seen is farther from the eye, where the camera is not orthographic
  bool orthographic = false;
  bool opaque = false;   ///< surfaces hide what lies behind them
  double tolerance = 0;  ///< pixels by which a simplified form may differ from the original
  /// So many triangles are drawn at most. Where this is too few, solids are simplified further, and small ones become
  /// points: none is left out.
  std::uint64_t most = kAllTriangles;

  friend bool operator==(const Sight&, const Sight&) = default;
};

/// The frustum of an image, or of one of its pixels, counted from the upper left.
[[nodiscard]] Sight sight_of(const Camera& camera, const Settings& settings, const Bounds& scene,
                             const Resolution& image, std::optional<std::array<int, 2>> pixel = std::nullopt);

/// The greatest factor by which a transform enlarges a length.
[[nodiscard]] double largest_scale(const Transform& transform);

}  // namespace raylift::viewer
