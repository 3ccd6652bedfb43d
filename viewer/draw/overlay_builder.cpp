// SPDX-License-Identifier: Apache-2.0
#include "draw/overlay_builder.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

namespace raylift::viewer {
namespace {

using Point = OverlayBuilder::Point;
using Paint = OverlayBuilder::Paint;

constexpr float kFade = 1;  // pixels beyond an edge

/// A letter as polylines on a grid 4 wide and 6 high: each pair of digits is a point, and a space ends a polyline; '/'
/// is one below '0', and '.' two.
struct Glyph {
  char letter;
  std::string_view strokes;
};
constexpr Glyph kGlyphs[] = {{'0', "103041453616050110"},
                             {'1', "052620"},
                             {'2', "05163645440040"},
                             {'3', "0516364544334241301001 1333"},
                             {'4', "30360242"},
                             {'5', "460603334241301001"},
                             {'6', "3615030110304142331302"},
                             {'7', "064610"},
                             {'8', "13040516364544331302011030414233"},
                             {'9', "4433130405163645433110"},
                             {'A', "002640 1232"},
                             {'B', "00063645443303 3342413000"},
                             {'C', "4536160501103041"},
                             {'D', "00063645413000"},
                             {'E', "46060040 0333"},
                             {'F', "460600 0333"},
                             {'G', "45361605011030414323"},
                             {'H', "0006 4046 0343"},
                             {'I', "1030 1636 2026"},
                             {'J', "4641301001"},
                             {'K', "0006 4602 1340"},
                             {'L', "060040"},
                             {'M', "0006234640"},
                             {'N', "00064046"},
                             {'O', "20424426040220"},
                             {'P', "00063645443303"},
                             {'Q', "103041453616050110 2240"},
                             {'R', "00063645443303 2340"},
                             {'S', "453616050413334241301001"},
                             {'T', "0646 2026"},
                             {'U', "060110304146"},
                             {'V', "062046"},
                             {'W', "0610243046"},
                             {'X', "0046 0640"},
                             {'Y', "062346 2320"},
                             {'Z', "06460040"},
                             {'a', "4440 4334140301103041"},
                             {'b', "0600 0314344341301001"},
                             {'c', "4334140301103041"},
                             {'d', "4640 4334140301103041"},
                             {'e', "02424334140301103041"},
                             {'f', "10152636 0434"},
                             {'g', "4334140301103041 444/3.1.0/"},
                             {'h', "0600 0314344340"},
                             {'i', "2420 2626"},
                             {'j', "343/2.1. 3636"},
                             {'k', "0006 0234 1330"},
                             {'l', "16262030"},
                             {'m', "0004 03142320 23344340"},
                             {'n', "0004 0314344340"},
                             {'o', "103041433414030110"},
                             {'p', "0.04 0314344341301001"},
                             {'q', "4.44 4334140301103041"},
                             {'r', "0004 031434"},
                             {'s', "4414031232413000"},
                             {'t', "16112030 0434"},
                             {'u', "0401103041 4440"},
                             {'v', "042044"},
                             {'w', "0410233044"},
                             {'x', "0440 0044"},
                             {'y', "0420 441.0."},
                             {'z', "04440040"},
                             {'.', "1010"},
                             {',', "201/"},
                             {':', "2020 2323"},
                             {';', "201/ 2323"},
                             {'-', "0343"},
                             {'_', "0/4/"},
                             {'+', "0343 2125"},
                             {'=', "0242 0444"},
                             {'*', "2125 0442 0244"},
                             {'/', "0046"},
                             {'\\', "0640"},
                             {'|', "2026"},
                             {'(', "36252130"},
                             {')', "16252110"},
                             {'[', "36262030"},
                             {']', "16262010"},
                             {'{', "36252413222130"},
                             {'}', "16252433222110"},
                             {'<', "450341"},
                             {'>', "054301"},
                             {'#', "1016 3036 0242 0444"},
                             {'%', "0046 0505 4141"},
                             {'&', "4004051625240201102042"},
                             {'$', "453616050413334241301001 2026"},
                             {'!', "2622 2020"},
                             {'?', "05163645442322 2020"},
                             {'\'', "2624"},
                             {'"', "1614 3634"},
                             {'^', "042644"},
                             {'~', "03143243"},
                             {'`', "1625"},
                             {'\xB5', "0.04 01103041 4440"},
                             {'\xB0', "1526352415"}};
constexpr std::string_view kUnknown = "0006464000";

std::string_view strokes_of(char letter) {
  if (letter == ' ') return {};
  const auto* found =
      std::find_if(std::begin(kGlyphs), std::end(kGlyphs), [&](const Glyph& glyph) { return glyph.letter == letter; });
  return found == std::end(kGlyphs) ? kUnknown : found->strokes;
}

/// From a letter's left edge to the next one's, in units of the grid.
float advance(char letter) {
  return letter == ' ' ? 3.0F : letter == '.' ? 3.2F : 5.8F;
}
constexpr float kSpacing = 1.8F;  // of it, behind the letter

/// Calls `work` for each letter of a text in UTF-8: with its byte, for letters of Latin-1 above ASCII with their last
/// byte, and for all others with DEL.
template <class Work>
void for_letters(std::string_view words, const Work& work) {
  for (std::size_t i = 0; i != words.size(); ++i) {
    const auto byte = static_cast<unsigned char>(words[i]);
    if ((byte & 0xC0U) == 0x80) continue;  // of the letter before
    if (byte < 0x80)
      work(words[i]);
    else
      work(byte == 0xC2 && i + 1 != words.size() ? words[i + 1] : '\x7F');
  }
}

OverlayVertex vertex(const Point& p, const Paint& paint, float distance, float edge) {
  return {{p.x(), p.y()}, paint, {distance, edge}};
}

}  // namespace

float overlay_scale(int height) {
  return std::clamp(static_cast<float>(height) / 720.0F, 0.75F, 4.0F);
}

bool is_thumbnail(int width, int height) {
  return std::min(width, height) < 120;
}

void OverlayBuilder::line(const Point& a, const Point& b, float width, const Paint& paint) {
  Point along = b - a;
  const float length = along.norm();
  along = length > 0 ? Point(along / length) : Point(1, 0);
  const float half = 0.5F * width, reach = half + kFade;
  const Point side = Point(-along.y(), along.x()) * reach;
  const Point cap = along * half;
  const OverlayVertex corners[4] = {
      vertex(a - cap - side, paint, -reach, half), vertex(b + cap - side, paint, -reach, half),
      vertex(b + cap + side, paint, reach, half), vertex(a - cap + side, paint, reach, half)};
  for (const int i : {0, 1, 2, 0, 2, 3}) overlay_.push_back(corners[i]);
}

void OverlayBuilder::disc(const Point& center, float radius, const Paint& paint) {
  constexpr int kSides = 24;
  const auto corner = [&](int k) {
    const float angle = 6.2831853F * static_cast<float>(k) / kSides;
    return vertex(center + (radius + kFade) * Point(std::cos(angle), std::sin(angle)), paint, radius + kFade, radius);
  };
  for (int i = 0; i < kSides; ++i) {
    overlay_.push_back(vertex(center, paint, 0, radius));
    overlay_.push_back(corner(i));
    overlay_.push_back(corner(i + 1));
  }
}

void OverlayBuilder::rectangle(const Point& low, const Point& high, const Paint& paint) {
  // Its edges lie between pixels, where they are sharp.
  const Point from(std::round(low.x()), std::round(low.y())), to(std::round(high.x()), std::round(high.y()));
  const Point corners[4] = {from, {to.x(), from.y()}, to, {from.x(), to.y()}};
  for (const int i : {0, 1, 2, 0, 2, 3}) overlay_.push_back(vertex(corners[i], paint, 0, 1));
}

void OverlayBuilder::text(const Point& at, std::string_view words, float height, const Paint& paint, float more) {
  const float unit = height / 6;
  Point place = at;
  for_letters(words, [&](char letter) {
    strokes(strokes_of(letter), place, unit, paint, more);
    place.x() += unit * advance(letter);
  });
}

float OverlayBuilder::text_width(std::string_view words, float height) {
  float units = -kSpacing;
  for_letters(words, [&](char letter) { units += advance(letter); });
  return std::max(0.0F, units) * height / 6;
}

void OverlayBuilder::strokes(std::string_view lines, const Point& at, float unit, const Paint& paint, float more) {
  const auto point = [&](std::string_view run, std::size_t i) {
    return Point(at + unit * Point(static_cast<float>(run[i] - '0'), static_cast<float>(run[i + 1] - '0')));
  };
  while (!lines.empty()) {
    const std::string_view run = lines.substr(0, lines.find(' '));
    for (std::size_t i = 0; i + 3 < run.size(); i += 2)
      line(point(run, i), point(run, i + 2), std::max(1.4F, 0.84F * unit) + more, paint);
    lines.remove_prefix(std::min(lines.size(), run.size() + 1));
  }
}

}  // namespace raylift::viewer
