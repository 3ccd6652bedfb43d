// SPDX-License-Identifier: Apache-2.0
#include "draw/overlay/font.h"

#define STBTT_STATIC
#define STB_TRUETYPE_IMPLEMENTATION
#include <stb/stb_truetype.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "draw/overlay/font_data.h"

namespace raylift::viewer {
namespace {

/// A font's file, and its tables.
struct Face {
  std::vector<unsigned char> file;  // empty for the program's own
  stbtt_fontinfo info{};
};

Face own_face() {
  Face face;
  stbtt_InitFont(&face.info, font_data().data(), 0);
  return face;
}

/// Each as its own allocation: a face's tables refer to its file.
std::vector<std::unique_ptr<Face>> east_asian_faces() {
  std::vector<std::unique_ptr<Face>> faces;
  for (const char* name : kEastAsianFonts) {
    std::ifstream stream(name, std::ios::binary);
    if (!stream) continue;
    auto one = std::make_unique<Face>();
    Face& face = *one;
    face.file.assign(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    if (face.file.size() < 16) continue;
    const int offset = stbtt_GetFontOffsetForIndex(face.file.data(), 0);
    if (offset >= 0 && stbtt_InitFont(&face.info, face.file.data(), offset) != 0) faces.push_back(std::move(one));
  }
  return faces;
}

/// The font that has a letter, and the letter's number in it; 0: the box for letters that are missing.
std::pair<const stbtt_fontinfo*, int> find(std::uint32_t letter) {
  static const Face own = own_face();
  const int glyph = stbtt_FindGlyphIndex(&own.info, static_cast<int>(letter));
  constexpr std::uint32_t kFirstEastAsian = 0x1100;
  if (glyph != 0 || letter < kFirstEastAsian) return {&own.info, glyph};
  static const std::vector<std::unique_ptr<Face>> east_asian = east_asian_faces();
  for (const auto& face : east_asian)
    if (const int other = stbtt_FindGlyphIndex(&face->info, static_cast<int>(letter)); other != 0)
      return {&face->info, other};
  return {&own.info, 0};
}

}  // namespace

float advance_of(std::uint32_t letter) {
  const auto [face, glyph] = find(letter);
  int advance = 0;
  stbtt_GetGlyphHMetrics(face, glyph, &advance, nullptr);
  return static_cast<float>(advance) * stbtt_ScaleForMappingEmToPixels(face, 1);
}

Glyph make_glyph(std::uint32_t letter, float capital, float shift) {
  const auto [face, number] = find(letter);
  const float scale = stbtt_ScaleForMappingEmToPixels(face, capital / kCapital);
  int left = 0, top = 0, right = 0, bottom = 0;
  stbtt_GetGlyphBitmapBoxSubpixel(face, number, scale, scale, shift, 0, &left, &top, &right, &bottom);
  Glyph glyph{right - left, bottom - top, left, -top, {}};
  glyph.alpha.resize(static_cast<std::size_t>(glyph.width) * static_cast<std::size_t>(glyph.height));
  if (!glyph.alpha.empty())
    stbtt_MakeGlyphBitmapSubpixel(face, glyph.alpha.data(), glyph.width, glyph.height, glyph.width, scale, scale, shift,
                                  0, number);
  return glyph;
}

float text_width(std::string_view words, float capital) {
  float width = 0;
  while (!words.empty()) {
    const auto [letter, bytes] = base::decode_utf8(words);
    words.remove_prefix(std::max<std::size_t>(bytes, 1));
    width += advance_of(letter);
  }
  return width * capital / kCapital;
}

}  // namespace raylift::viewer
