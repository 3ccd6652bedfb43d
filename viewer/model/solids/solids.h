// SPDX-License-Identifier: Apache-2.0
// The tree of solids: children, names, visibility. No GL.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "model/settings/settings.h"

namespace raylift::viewer {

/// The box along the axes around a transformed box.
[[nodiscard]] Bounds moved_box(const Bounds& box, const Transform& transform);

/// Whether the plane with this unit normal, at this offset along it, meets a box that is placed by the transform.
[[nodiscard]] bool meets(const Eigen::Vector3d& normal, double offset, const Bounds& box, const Transform& transform);

/// An opacity in the form of Solids and Renderer: 1 to 100. It must not be NaN.
[[nodiscard]] std::uint8_t hundredths(double opacity);

/// A scene's nodes and solids as a tree, and the visibility of each solid. The scene must outlive it.
class Solids {
 public:
  explicit Solids(const Scene& scene);

  [[nodiscard]] const Scene& scene() const { return *scene_; }
  /// The child nodes of a node; of kNone: the top nodes.
  [[nodiscard]] std::span<const std::uint32_t> children(std::uint32_t node) const;
  /// The solids of a node itself; of kNone: solids without a node.
  [[nodiscard]] std::span<const std::uint32_t> instances(std::uint32_t node) const;
  /// The solids of a node and of all nodes below it.
  [[nodiscard]] std::vector<std::uint32_t> below(std::uint32_t node) const;

  /// One value per solid: 1 visible, 0 hidden.
  [[nodiscard]] const std::vector<std::uint8_t>& visible() const { return state_.visible; }
  /// The Style of each solid.
  [[nodiscard]] const std::vector<std::uint8_t>& styles() const { return state_.styles; }
  [[nodiscard]] bool has_styles() const;
  /// The opacity of each solid with Style::glass, in hundredths; 0: Settings::glass_opacity.
  [[nodiscard]] const std::vector<std::uint8_t>& opacities() const { return state_.opacities; }
  void set_style(std::span<const std::uint32_t> instances, Style style, std::uint8_t opacity = 0);
  /// Sets the opacity of those solids that are glass. All calls until end_slide() are one change for undo().
  void slide_opacity(std::span<const std::uint32_t> instances, std::uint8_t opacity);
  void end_slide() { sliding_ = false; }
  /// The colour that the user gave each solid, sRGB 0xAABBGGRR; 0: none of its own.
  [[nodiscard]] const std::vector<std::uint32_t>& colors() const { return state_.colors; }
  /// Gives solids a colour; 0: none of their own.
  void set_color(std::span<const std::uint32_t> instances, std::uint32_t color);
  /// The same; all calls until end_slide() are one change for undo().
  void slide_color(std::span<const std::uint32_t> instances, std::uint32_t color);
  /// Raised by each change of visibility or styles.
  [[nodiscard]] std::uint64_t version() const { return version_; }
  /// Raised by these changes, and by each change of opacities or colours.
  [[nodiscard]] std::uint64_t opacity_version() const { return version_ + slides_; }
  void set_visible(std::span<const std::uint32_t> instances, bool visible);
  void show_all();
  void show_only(std::span<const std::uint32_t> instances);
  /// One value per solid. Without opacities, all glass has Settings::glass_opacity.
  void set_all(std::vector<std::uint8_t> visible);
  void set_all(std::vector<std::uint8_t> visible, std::vector<std::uint8_t> styles,
               std::vector<std::uint8_t> opacities = {}, std::vector<std::uint32_t> colors = {});
  /// Undoes the last change of visibility or styles; false if there is none.
  bool undo();
  [[nodiscard]] bool can_undo() const { return !before_.empty(); }
  /// How many solids and groups a solid lies below in the tree.
  [[nodiscard]] std::uint32_t depth(std::uint32_t instance) const;
  /// Whether none (0), some (1) or all (2) solids at and below a node are visible; 2 where there is no solid.
  [[nodiscard]] int shown(std::uint32_t node) const;

  /// Whether a plane meets the box of a solid's mesh.
  [[nodiscard]] bool meets(std::uint32_t instance, const ClipPlane& plane) const;
  /// A box around a solid in the world, from its mesh's box: it may be larger than the solid's own.
  [[nodiscard]] Bounds bounds(std::uint32_t instance) const;
  [[nodiscard]] Bounds bounds(std::span<const std::uint32_t> instances) const;
  /// The box of the solids whose value is not 0; one value per solid.
  [[nodiscard]] Bounds bounds_of(std::span<const std::uint8_t> visible) const;
  /// Points on the convex hull of solids: their outermost vertices in many directions, evenly spread. A camera frames
  /// these instead of the empty corners of the box.
  [[nodiscard]] std::vector<Eigen::Vector3d> outermost(std::span<const std::uint32_t> instances) const;

 private:
  void changing();

  const Scene* scene_;
  std::vector<std::uint32_t> child_begin_, child_;        // of node + 1; 0 is the top
  std::vector<std::uint32_t> instance_begin_, instance_;  // likewise
  std::vector<Bounds> mesh_bounds_;
  struct State {
    std::vector<std::uint8_t> visible, styles, opacities;
    std::vector<std::uint32_t> colors;
  };
  State state_;
  std::vector<State> before_;  // earlier ones, the last one last
  bool sliding_ = false;
  std::uint64_t slides_ = 0;
  std::uint64_t version_ = 0;
  mutable std::uint64_t shown_version_ = ~std::uint64_t{0};
  mutable std::vector<std::uint8_t> shown_;
};

}  // namespace raylift::viewer
