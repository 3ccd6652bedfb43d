// SPDX-License-Identifier: Apache-2.0
#include "draw/overlay/overlay_triangles.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>

#include "base/utf8.h"
#include "draw/overlay/font.h"

namespace raylift::viewer {
namespace {

using Point = OverlayItem::Point;
using Paint = std::array<float, 4>;
using Triangles = std::vector<OverlayVertex>;

constexpr float kFade = 1;  // pixels beyond an edge
constexpr int kShifts = 4;  // places of a letter between pixels
constexpr int kSizes = 4;   // sizes of letters for each pixel

OverlayVertex vertex(const Point& p, const Paint& paint, float distance, float edge, float letter = 0) {
  return {{p.x(), p.y()}, paint, {distance, edge}, letter};
}

void add_line(Triangles& triangles, const OverlayItem& line) {
  Point along = line.to - line.from;
  const float length = along.norm();
  along = length > 0 ? Point(along / length) : Point(1, 0);
  const float half = 0.5F * line.size, reach = half + kFade;
  const Point side = Point(-along.y(), along.x()) * reach;
  const Point cap = along * half;
  const OverlayVertex corners[4] = {
      vertex(line.from - cap - side, line.paint, -reach, half), vertex(line.to + cap - side, line.paint, -reach, half),
      vertex(line.to + cap + side, line.paint, reach, half), vertex(line.from - cap + side, line.paint, reach, half)};
  for (const int i : {0, 1, 2, 0, 2, 3}) triangles.push_back(corners[i]);
}

void add_disc(Triangles& triangles, const OverlayItem& disc) {
  constexpr int kSides = 24;
  const float reach = disc.size + kFade;
  const auto corner = [&](int k) {
    const float angle = 6.2831853F * static_cast<float>(k) / kSides;
    return vertex(disc.from + reach * Point(std::cos(angle), std::sin(angle)), disc.paint, reach, disc.size);
  };
  for (int i = 0; i < kSides; ++i) {
    triangles.push_back(vertex(disc.from, disc.paint, 0, disc.size));
    triangles.push_back(corner(i));
    triangles.push_back(corner(i + 1));
  }
}

void add_rectangle(Triangles& triangles, const OverlayItem& plate) {
  // Its edges lie between pixels, where they are sharp.
  const Point from(std::round(plate.from.x()), std::round(plate.from.y())),
      to(std::round(plate.to.x()), std::round(plate.to.y()));
  const Point corners[4] = {from, {to.x(), from.y()}, to, {from.x(), to.y()}};
  for (const int i : {0, 1, 2, 0, 2, 3}) triangles.push_back(vertex(corners[i], plate.paint, 0, 1));
}

/// Calls work(letter, x of its origin, shift) for each letter of a text.
template <class Work>
void for_letters(const OverlayItem& text, const Work& work) {
  float x = text.from.x();
  for (std::string_view rest = text.words; !rest.empty();) {
    const auto [letter, bytes] = base::decode_utf8(rest);
    rest.remove_prefix(std::max<std::size_t>(bytes, 1));
    const float whole = std::floor(x * kShifts) / kShifts;
    work(static_cast<std::uint32_t>(letter), std::floor(whole), whole - std::floor(whole));
    x += advance_of(letter) * text.size / kCapital;
  }
}

void add_text(Triangles& triangles, const OverlayItem& text, const GlyphImage& letters) {
  // A halo is the text itself, moved to all sides.
  constexpr int kSides = 12;
  const float around = 0.5F * text.halo, y = std::round(text.from.y());
  for_letters(text, [&](std::uint32_t letter, float x, float shift) {
    const GlyphImage::Slot& place = letters.place(letter, text.size, shift);
    if (place.width == 0) return;
    for (int k = 0; k < (around > 0 ? kSides : 1); ++k) {
      const float angle = 6.2831853F * static_cast<float>(k) / kSides;
      const Point at = Point(x, y) + around * Point(std::cos(angle), std::sin(angle)) +
                       Point(static_cast<float>(place.left), static_cast<float>(place.top));
      const auto corner = [&](float right, float down) {
        const auto w = static_cast<float>(place.width), h = static_cast<float>(place.height);
        return vertex(at + Point(right * w, -down * h), text.paint, static_cast<float>(place.x) + right * w,
                      static_cast<float>(place.y) + down * h, 1);
      };
      const OverlayVertex corners[4] = {corner(0, 1), corner(1, 1), corner(1, 0), corner(0, 0)};
      for (const int i : {0, 1, 2, 0, 2, 3}) triangles.push_back(corners[i]);
    }
  });
}

}  // namespace

GlyphImage::Key GlyphImage::key(std::uint32_t letter, float capital, float shift) {
  return {letter, static_cast<int>(std::lround(capital * kSizes)), static_cast<int>(std::lround(shift * kShifts))};
}

const GlyphImage::Slot& GlyphImage::place(std::uint32_t letter, float capital, float shift) const {
  static const Slot kNothing;
  const auto found = places_.find(key(letter, capital, shift));
  return found != places_.end() ? found->second : kNothing;
}

bool GlyphImage::add(std::uint32_t letter, float capital, float shift) {
  if (places_.contains(key(letter, capital, shift))) return true;
  pixels_.resize(std::size_t{kSide} * kSide);
  const Glyph glyph = make_glyph(letter, std::round(capital * kSizes) / kSizes, shift);
  constexpr int kGap = 1;  // pixels
  if (x_ + glyph.width > kSide) {
    x_ = 0;
    y_ += row_ + kGap;
    row_ = 0;
  }
  if (glyph.width > kSide || y_ + glyph.height > kSide) {
    places_.clear();
    std::fill(pixels_.begin(), pixels_.end(), std::uint8_t{0});
    x_ = y_ = row_ = 0;
    return false;
  }
  for (int y = 0; y != glyph.height; ++y)
    std::copy_n(glyph.alpha.begin() + std::ptrdiff_t{y} * glyph.width, glyph.width,
                pixels_.begin() + std::ptrdiff_t{y_ + y} * kSide + x_);
  places_[key(letter, capital, shift)] = {x_, y_, glyph.width, glyph.height, glyph.left, glyph.top};
  x_ += glyph.width + kGap;
  row_ = std::max(row_, glyph.height);
  ++version_;
  return true;
}

std::vector<OverlayVertex> overlay_triangles(const Overlay& overlay, GlyphImage& letters) {
  // Once more where the image was full: it has the letters of this overlay alone then.
  for (int attempt = 0; attempt != 2; ++attempt) {
    bool all = true;
    for (const OverlayItem& item : overlay)
      if (item.kind == OverlayItem::Kind::text)
        for_letters(item, [&](std::uint32_t letter, float, float shift) {
          all = letters.add(letter, item.size, shift) && all;
        });
    if (all) break;
  }
  Triangles triangles;
  for (const OverlayItem& item : overlay) switch (item.kind) {
      case OverlayItem::Kind::line:
        add_line(triangles, item);
        break;
      case OverlayItem::Kind::disc:
        add_disc(triangles, item);
        break;
      case OverlayItem::Kind::rectangle:
        add_rectangle(triangles, item);
        break;
      case OverlayItem::Kind::text:
        add_text(triangles, item, letters);
        break;
    }
  return triangles;
}

}  // namespace raylift::viewer
