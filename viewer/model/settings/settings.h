// SPDX-License-Identifier: Apache-2.0
// The settings of an image. setting_table.h names them for options, verbs and bookmarks. No GL.
#pragma once

#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/scene/scene.h>

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/settings/measurement.h"
#include "model/settings/modes.h"
#include "model/settings/overlap_marks.h"
#include "model/settings/photon_settings.h"

namespace raylift::viewer {

inline constexpr std::array<std::string_view, 5> kStyleNames{"default", "ghost", "glass", "wireframe", "edges"};
inline constexpr std::array<std::string_view, 3> kShellsNames{"faint", "solid", "hidden"};
inline constexpr std::array<std::string_view, 8> kColorNames{"material", "solid",   "mesh", "residency",
                                                             "normal",   "surface", "hits", "first-hit"};
/// What the buttons of the mouse do: as in this program, in VTK's (ParaView, F3D), or in Blender.
enum class MouseScheme : std::uint8_t { raylift, vtk, blender };
inline constexpr std::array<std::string_view, 3> kMouseSchemeNames{"raylift", "vtk", "blender"};
inline constexpr std::array<std::string_view, 6> kRayModeNames{"off",    "shaded", "depth",
                                                               "normal", "solid",  "crossings"};

/// A clipping plane: points with normal . p > offset are hidden. Millimetres, in the world.
struct ClipPlane {
  Eigen::Vector3d normal{1, 0, 0};
  std::optional<double> offset;  ///< along the unit normal; none: the plane goes through the scene's centre

  /// The offset in a scene with these bounds.
  [[nodiscard]] double offset_in(const Bounds& scene) const {
    return offset.value_or(normal.dot(to_eigen(scene.center())));
  }
  friend bool operator==(const ClipPlane& a, const ClipPlane& b) {
    return a.normal == b.normal && a.offset == b.offset;
  }
};

/// "x", "-y", "x=100", "1,1,0", "1,1,0=250": throws Error(usage) for anything else.
[[nodiscard]] ClipPlane parse_clip(std::string_view text);
inline constexpr std::size_t kMaxPlanes = 6;

/// Several planes: a point that any of them hides is hidden.
struct ClipPlanes {
  std::vector<ClipPlane> planes;
  bool facing = false;  ///< the first plane follows from the camera
};
/// Reads texts of parse_clip(), "facing", and "off", which removes all earlier planes. Throws Error(usage), also for
/// more than kMaxPlanes.
[[nodiscard]] ClipPlanes parse_clips(std::span<const std::string> texts);
/// The text that parse_clip reads as this plane.
[[nodiscard]] std::string clip_text(const ClipPlane& plane);

/// A plane through the scene's centre, normal to the axis nearest to the camera's direction `forward`. It cuts the half
/// that faces the camera.
[[nodiscard]] ClipPlane facing_plane(const Eigen::Vector3d& forward);
/// The same, normal to this axis, 0 to 2.
[[nodiscard]] ClipPlane facing_plane(const Eigen::Vector3d& forward, int axis);

/// The part of a box that a plane leaves. The whole box if that part is empty or the plane is oblique.
[[nodiscard]] Bounds clipped(Bounds box, const ClipPlane& plane, const Bounds& scene);

/// A box along the world's axes. It hides the outside, or with `away` the inside. Its faces are kMaxPlanes clipping
/// planes.
struct ClipBox {
  Bounds box;  ///< mm
  bool away = false;

  /// The faces at minimum x, maximum x, minimum y and so on; normals point out of the box.
  [[nodiscard]] std::vector<ClipPlane> planes() const;
  friend bool operator==(const ClipBox& a, const ClipBox& b) {
    return a.box.min == b.box.min && a.box.max == b.box.max && a.away == b.away;
  }
};
/// "-100,-100,0,100,100,50": the minimum and the maximum corner. None for a text that is not six numbers; throws
/// Error(usage) if the minimum is not less than the maximum.
[[nodiscard]] std::optional<Bounds> parse_box(std::string_view text);
/// The text that parse_box reads as this box.
[[nodiscard]] std::string box_text(const Bounds& box);

/// sRGB, 0 to 1.
using Color = std::array<float, 3>;

/// "#rrggbb"; none for anything else.
[[nodiscard]] std::optional<Color> parse_color(std::string_view text);
/// The text that parse_color() reads as this colour.
[[nodiscard]] std::string color_text(const Color& color);

/// A vertical gradient behind the scene, or a transparent background.
struct Background {
  Color top{0.165F, 0.180F, 0.205F};
  Color bottom{0.060F, 0.066F, 0.078F};
  bool transparent = false;
  friend bool operator==(const Background&, const Background&) = default;
};

/// "dark", "light", "white", "black", "none", "#rrggbb" or "#rrggbb,#rrggbb" (top and bottom); else Error(usage).
[[nodiscard]] Background parse_background(std::string_view text);
/// The text that parse_background() reads as this background.
[[nodiscard]] std::string background_text(const Background& background);

inline constexpr float kDetail = 0.75F, kMaxDetail = 100;  // pixels

struct Settings {
  ColorBy color = ColorBy::material;
  ColorMap scale_map = ColorMap::viridis;  ///< of hits, times of first hits, depths and crossings
  bool scale_log = false;
  std::optional<Between<double>> scale_range;  ///< photons or ns; none: from the data
  RayMode ray_cast = RayMode::off;
  bool wireframe = false;
  bool edges = false;
  bool feature_edges = false;  ///< edges and wireframes only where triangles meet at 40 degrees or more
  bool smooth = true;
  bool back_faces = false;        ///< in red stripes
  float opacity = 1;              ///< below 1, all surfaces are transparent
  float glass_opacity = 0.3F;     ///< the opacity of solids with Style::glass that have none of their own
  Shells shells = Shells::faint;  ///< for solids that enclose nearly all others
  float detail = kDetail;         ///< pixels by which simplified solids may differ; 0: none is simplified
  std::optional<ClipPlane> clip;
  std::vector<ClipPlane> more_clips;      ///< further planes, in addition to `clip`
  std::optional<ClipBox> clip_box;        ///< replaces all planes
  bool caps = true;                       ///< close solids where planes cut them
  std::vector<Eigen::Vector3d> measured;  ///< points between which distances are drawn, at most kMaxMeasured; mm
  /// Overlaps that are marked; null: none were looked for.
  std::shared_ptr<const OverlapMarks> overlaps;
  std::optional<Eigen::Vector3d> source;  ///< where light that is simulated comes from; it is marked; mm
  std::optional<Bounds> box;              ///< box of the selected group; its edges are drawn
  bool axes = true;
  bool scale_bar = true;
  MouseScheme controls = MouseScheme::raylift;
  bool hover = true;  ///< name, material and position of what is under a resting cursor
  bool snap = true;   ///< measured points snap to vertices, edges and centres of solids
  Background background;
  PhotonSettings photons;

  [[nodiscard]] ScaleSettings scale() const { return {scale_map, scale_log, scale_range}; }
  void set_scale(const ScaleSettings& scale) {
    scale_map = scale.map;
    scale_log = scale.log;
    scale_range = scale.range;
  }
  /// Whether colours depend on detected photons.
  [[nodiscard]] bool colors_hits() const { return color == ColorBy::hits || color == ColorBy::first_hit; }
  /// All clipping planes, at most kMaxPlanes: the faces of the box, if there is one.
  [[nodiscard]] std::vector<ClipPlane> planes() const;
  /// Whether the inside of the box is hidden, not the outside.
  [[nodiscard]] bool cuts_away() const { return clip_box && clip_box->away; }
  /// Whether clipping takes a side of the scene away, so that what encloses the rest can be cut open there. What a box
  /// leaves is enclosed on all sides as before.
  [[nodiscard]] bool cuts_open() const { return clip_box ? clip_box->away : clip.has_value() || !more_clips.empty(); }
  /// Replaces all planes and the box.
  void set_planes(std::span<const ClipPlane> planes);
  /// Replaces all planes.
  void set_clip_box(const ClipBox& fresh);
  /// Sets feature_edges, and turns edges on if neither edges nor wireframes are drawn.
  void set_feature_edges(bool on);
};

/// "1280x720", both 1 to 16384: throws Error(usage) for anything else.
struct Resolution {
  int width = 1280;
  int height = 720;
  friend bool operator==(const Resolution&, const Resolution&) = default;
};
[[nodiscard]] Resolution parse_resolution(std::string_view text);

}  // namespace raylift::viewer
