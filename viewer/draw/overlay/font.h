// SPDX-License-Identifier: Apache-2.0
// The font of images, which is the window's: widths of texts, and letters as grey pixels. No GL.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace raylift::viewer {

/// Fonts of Debian and Ubuntu for East Asian letters, by preference; the first one lacks Korean ones.
inline constexpr std::array<const char*, 3> kEastAsianFonts{"/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf",
                                                            "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc",
                                                            "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc"};

inline constexpr std::string_view kFontName = "DejaVu Sans";
inline constexpr float kCapital = 0.729F;  ///< height of its capitals, of its size

/// A letter at a size.
struct Glyph {
  int width = 0, height = 0;
  int left = 0, top = 0;            ///< of its first pixel: right of its origin, above the base line
  std::vector<std::uint8_t> alpha;  ///< rows from the top
};

/// The way from a letter's origin to that of the next one, of the font's size. Letters that DejaVu lacks are those of
/// an East Asian font, where one is installed; else boxes.
[[nodiscard]] float advance_of(std::uint32_t letter);
/// The letter where capitals are so many pixels high; its origin is moved to the right by `shift`, 0 to 1.
[[nodiscard]] Glyph make_glyph(std::uint32_t letter, float capital, float shift);
/// The width of a text in UTF-8.
[[nodiscard]] float text_width(std::string_view words, float capital);

}  // namespace raylift::viewer
