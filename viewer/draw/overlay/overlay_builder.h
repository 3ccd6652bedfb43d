// SPDX-License-Identifier: Apache-2.0
// Makes an overlay of lines, discs, plates and texts. No GL.
#pragma once

#include <Eigen/Core>
#include <array>
#include <string_view>

#include "draw/overlay/overlay.h"

namespace raylift::viewer {

/// The size of what an overlay has follows the image's height. A thumbnail has no overlay.
[[nodiscard]] float overlay_scale(int height);
[[nodiscard]] bool is_thumbnail(int width, int height);
/// Whether dark ink is read on the lower edge of a background.
[[nodiscard]] bool is_light(const Background& background);

class OverlayBuilder {
 public:
  using Point = Eigen::Vector2f;       ///< pixels from the lower left
  using Paint = std::array<float, 4>;  ///< sRGB and alpha

  explicit OverlayBuilder(Overlay& overlay) : overlay_(overlay) {}

  void line(const Point& a, const Point& b, float width, const Paint& paint);
  void disc(const Point& center, float radius, const Paint& paint);
  void rectangle(const Point& low, const Point& high, const Paint& paint);
  /// A text in UTF-8. `height` is a capital letter's; strokes are widened by `more`.
  void text(const Point& at, std::string_view words, float height, const Paint& paint, float more = 0);
  [[nodiscard]] static float text_width(std::string_view words, float height);

 private:
  Overlay& overlay_;
};

/// A dark ground with light letters: read over any image.
inline constexpr OverlayBuilder::Paint kPlatePaint{0.05F, 0.06F, 0.07F, 0.85F}, kPlateInk{1.00F, 0.95F, 0.85F, 1};

/// The ink on a light background, or on a dark one.
[[nodiscard]] constexpr OverlayBuilder::Paint overlay_ink(bool light, float alpha = 1) {
  return light ? OverlayBuilder::Paint{0.10F, 0.11F, 0.13F, alpha} : OverlayBuilder::Paint{0.88F, 0.90F, 0.93F, alpha};
}

}  // namespace raylift::viewer
