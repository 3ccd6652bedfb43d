// SPDX-License-Identifier: Apache-2.0
// The clipping box: its placement around solids, and the handles on its faces that the mouse drags. No GL.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "cli/camera.h"
#include "model/settings/settings.h"
#include "model/solids/solids.h"

namespace raylift::viewer {

/// A position in the window, in its pixels from the upper left.
struct Cursor {
  double x = 0, y = 0;
  Resolution window;
};
/// Origin and direction of the camera's ray through the cursor.
[[nodiscard]] std::pair<Eigen::Vector3d, Eigen::Vector3d> cursor_ray(const Camera& camera, const Cursor& cursor);

/// The box of solids, enlarged on each side by a hundredth of its diagonal, so that their faces are not clipped. Empty
/// if they have no triangles.
[[nodiscard]] Bounds box_around(const Solids& solids, std::span<const std::uint32_t> instances);
/// The box that a text gives: in the form of parse_box(), or around the solids that match a pattern. Throws
/// Error(usage).
[[nodiscard]] Bounds find_box(const Solids& solids, std::string_view text);

/// The point where a ray enters the space that clipping leaves; its origin, if it starts there.
[[nodiscard]] Eigen::Vector3d clip_entry(const Settings& settings, const Bounds& scene, const Eigen::Vector3d& origin,
                                         const Eigen::Vector3d& direction);

/// The middle of a face of the box. Faces are counted as ClipBox::planes().
struct BoxHandle {
  Eigen::Vector2d place;  ///< in the window, pixels from the upper left
  double depth = 0;       ///< along the view
  bool seen = false;      ///< its face is before the eye
  /// Whether the mouse can drag it: not if the camera looks along its direction.
  bool movable = false;
};
[[nodiscard]] std::array<BoxHandle, kMaxPlanes> box_handles(const Camera& camera, const Bounds& box,
                                                            const Resolution& window);
inline constexpr double kHandleReach = 10;  ///< distance at which a press grabs a handle, pixels at scale 1
/// The face whose handle is under the cursor; none.
[[nodiscard]] std::optional<std::size_t> handle_under(const Camera& camera, const Bounds& box, const Cursor& cursor,
                                                      double scale = 1);
/// The box with one face moved to the cursor. The share `least` of its size is kept at least.
[[nodiscard]] Bounds with_face_at(const Camera& camera, Bounds box, std::size_t face, const Cursor& cursor,
                                  double least);

}  // namespace raylift::viewer
