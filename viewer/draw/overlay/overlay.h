// SPDX-License-Identifier: Apache-2.0
// The axes in a corner, the scale bar and what is measured, as shapes in pixel coordinates. No GL.
#pragma once

#include <Eigen/Geometry>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/camera.h"
#include "model/settings/settings.h"

namespace raylift::viewer {

/// A shape, in pixels from the lower left of the image.
struct OverlayItem {
  using Point = Eigen::Vector2f;
  enum class Kind : std::uint8_t { line, disc, rectangle, text };
  Kind kind{};
  Point from, to;  ///< a line's ends; a rectangle's corners; a disc's centre; where a text's base line begins and ends
  float size = 0;  ///< a line's width, a disc's radius, the height of a text's capitals
  std::array<float, 4> paint{};  ///< sRGB and alpha
  std::string words;             ///< of a text
  float halo = 0;                ///< by which a text's strokes are widened

  /// The box around it.
  [[nodiscard]] Eigen::AlignedBox2f box() const;
};

using Overlay = std::vector<OverlayItem>;  ///< from back to front

/// A length of 1, 2 or 5 times a power of ten, at most `most` millimetres.
[[nodiscard]] double round_length(double most);

/// The length in the largest unit that it reaches: "50 mm", "2 m", "1 km", "20 µm".
[[nodiscard]] std::string length_text(double millimetres);

/// The same with three digits: "1.23 m".
[[nodiscard]] std::string rounded_length_text(double millimetres);

/// The same with five digits, without an exponent: "1.2346 m".
[[nodiscard]] std::string measured_length_text(double millimetres);

/// An end of an axis in the corner; a click on it looks along the axis.
struct GizmoEnd {
  Eigen::Vector3d axis;  ///< from the middle to the end, in the world; of unit length
  Eigen::Vector2f at;    ///< pixels from the lower left
  float radius;          ///< of its disc, pixels
};
/// The six ends of the axes in an image of this size, from the farthest to the nearest; none where it has no room.
[[nodiscard]] std::vector<GizmoEnd> gizmo_ends(const Camera& camera, const Resolution& image);
/// The end under a place in pixels from the lower left; nothing where the image has no axes.
[[nodiscard]] std::optional<GizmoEnd> gizmo_end_at(const Camera& camera, const Settings& settings,
                                                   const Resolution& image, const Eigen::Vector2f& place);

/// Where the axes and the scale bar are in a part of an image, in pixels from the lower left; empty without room.
struct OverlayPlaces {
  Eigen::AlignedBox2f axes, scale_bar;
};
[[nodiscard]] OverlayPlaces overlay_places(const Eigen::AlignedBox2f& free, float scale);

/// Axes and scale bar in the part that the camera says is free, where the settings have them, and over the scene what
/// is measured and the settings' box. In perspective the bar's length holds at the target's distance.
[[nodiscard]] Overlay make_overlay(const Camera& camera, const Settings& settings, int width, int height);

}  // namespace raylift::viewer
