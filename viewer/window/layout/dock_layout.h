// SPDX-License-Identifier: Apache-2.0
// Where the panels, the overlays and the messages of a window are: docks at its sides, and a free rectangle between
// them. No ImGui, no GL.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace raylift::viewer {

/// In pixels of the window, from its upper left.
struct Rectangle {
  float left = 0, top = 0, right = 0, bottom = 0;
  [[nodiscard]] float width() const { return right - left; }
  [[nodiscard]] float height() const { return bottom - top; }
  [[nodiscard]] bool empty() const { return !(left < right && top < bottom); }
};
[[nodiscard]] bool intersect(const Rectangle& a, const Rectangle& b);

/// Panels from the top of their dock to its bottom; the left dock has those before `image`.
enum class Panel : std::uint8_t { scene, selection, measurement, image, legend };
inline constexpr std::size_t kPanels = 5;

/// Lengths of docks, in units of 1/14 of the font's height.
inline constexpr float kToolbarWidth = 40, kLeftWidth = 340, kRightWidth = 280, kGap = 8;

struct PanelWish {
  float height = 0;        ///< that its content needs with its title, px; 0: it is closed
  std::uint64_t used = 0;  ///< later for a larger number: it closes or folds after the others
};

struct DockWish {
  float width = 0, height = 0;  ///< of the window, px
  float unit = 1;               ///< px
  float overlay_scale = 1;      ///< of axes and scale bar, px per their unit
  bool toolbar = true;
  float left_width = kLeftWidth, right_width = kRightWidth;  ///< units
  std::array<PanelWish, kPanels> panels{};
};

struct DockLayout {
  Rectangle toolbar;
  struct PanelBox {
    Rectangle at;  ///< empty: the panel is closed, or has no room
    bool folded = false;
  };
  std::array<PanelBox, kPanels> panels{};
  Rectangle free;             ///< between the docks, over the window's whole height
  Rectangle axes, scale_bar;  ///< empty without room
  Rectangle message;          ///< its upper edge; the height is the least
  Rectangle progress;         ///< its lower edge; the height is the least
  [[nodiscard]] const PanelBox& of(Panel panel) const { return panels[static_cast<std::size_t>(panel)]; }
};

/// docs/viewer_design.md has the rules.
[[nodiscard]] DockLayout dock_layout(const DockWish& wish);

}  // namespace raylift::viewer
