// SPDX-License-Identifier: Apache-2.0
// A drawing as SVG 1.1: polylines, and the shapes of an overlay, texts as texts. No GL.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "draw/overlay/line_drawing.h"
#include "draw/overlay/overlay.h"
#include "model/settings/settings.h"

namespace raylift::viewer {

/// How polylines are drawn, by Polyline::style.
struct LineStyle {
  Color color{};
  float width = 1;  ///< pixels
  friend bool operator==(const LineStyle&, const LineStyle&) = default;
};

/// The styles of lines: ink in contrast to the background, thin and grey for faint solids. Beside a legend of
/// materials, solids or meshes they have its colours, and everywhere those that solids have of their own, dark or light
/// enough for the background.
class LineColors {
 public:
  /// `own_colors`: sRGB 0xAABBGGRR of each solid; 0: none. Empty: of all none. All parameters must outlive this.
  LineColors(const Scene& scene, const Settings& settings, bool has_legend, std::span<const std::uint32_t> own_colors);
  [[nodiscard]] LineStyle style(const Outline& line) const;

 private:
  const Scene& scene_;
  ColorBy by_;
  bool colored_, light_;
  std::vector<std::uint32_t> palette_;
  std::span<const std::uint32_t> own_colors_;
};

[[nodiscard]] std::string svg_text(const Resolution& size, const Background& background,
                                   std::span<const Polyline> lines, std::span<const LineStyle> styles,
                                   const Overlay& overlay);

}  // namespace raylift::viewer
