// SPDX-License-Identifier: Apache-2.0
// An overlay as triangles, and the letters that it needs as one grey image. No GL.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "draw/overlay/overlay.h"

namespace raylift::viewer {

struct OverlayVertex {
  std::array<float, 2> position;  ///< pixels from the lower left
  std::array<float, 4> paint;     ///< sRGB and alpha
  /// Distance from the middle of the line or disc, and where its edge is, in pixels: the edge is faded over one pixel,
  /// so that it looks the same with one sample a pixel as with several. Of a letter: a place in the image of letters,
  /// in its pixels, from the first row on.
  std::array<float, 2> edge;
  float letter;  ///< 1 of a letter, else 0
};

/// The letters that were drawn, side by side.
class GlyphImage {
 public:
  static constexpr int kSide = 1024;  ///< pixels, of its rows and columns

  struct Slot {
    int x = 0, y = 0, width = 0, height = 0;  ///< pixels, from the first row on
    int left = 0, top = 0;                    ///< as of Glyph
  };
  /// Adds the letter, unless it is there. Where the image is full it begins anew, and earlier places are void: false.
  bool add(std::uint32_t letter, float capital, float shift);
  [[nodiscard]] const Slot& place(std::uint32_t letter, float capital, float shift) const;
  [[nodiscard]] const std::vector<std::uint8_t>& pixels() const { return pixels_; }
  /// Raised by each change of the pixels.
  [[nodiscard]] std::uint64_t version() const { return version_; }

 private:
  using Key = std::tuple<std::uint32_t, int, int>;
  static Key key(std::uint32_t letter, float capital, float shift);
  std::map<Key, Slot> places_;
  std::vector<std::uint8_t> pixels_;
  int x_ = 0, y_ = 0, row_ = 0;  // where the next letter goes, and the height of its row
  std::uint64_t version_ = 0;
};

/// Three vertices for each triangle. Adds the letters to the image.
[[nodiscard]] std::vector<OverlayVertex> overlay_triangles(const Overlay& overlay, GlyphImage& letters);

}  // namespace raylift::viewer
