// SPDX-License-Identifier: Apache-2.0
#include "draw/overlay/overlay_builder.h"

#include <algorithm>
#include <string>

#include "draw/overlay/font.h"

namespace raylift::viewer {

Eigen::AlignedBox2f OverlayItem::box() const {
  Eigen::AlignedBox2f box(from);
  box.extend(to);
  const float half = kind == Kind::line ? 0.5F * size : kind == Kind::disc ? size : 0.5F * halo;
  const Point margin(half, half);
  if (kind == Kind::text) box.extend(Point(to + Point(0, size)));
  return {box.min() - margin, box.max() + margin};
}

float overlay_scale(int height) {
  return std::clamp(static_cast<float>(height) / 720.0F, 0.75F, 4.0F);
}

bool is_thumbnail(int width, int height) {
  return std::min(width, height) < 120;
}

bool is_light(const Background& background) {
  const Color& c = background.bottom;
  return !background.transparent && 0.3F * c[0] + 0.6F * c[1] + 0.1F * c[2] > 0.55F;
}

void OverlayBuilder::line(const Point& a, const Point& b, float width, const Paint& paint) {
  overlay_.push_back({OverlayItem::Kind::line, a, b, width, paint, {}, 0});
}

void OverlayBuilder::disc(const Point& center, float radius, const Paint& paint) {
  overlay_.push_back({OverlayItem::Kind::disc, center, center, radius, paint, {}, 0});
}

void OverlayBuilder::rectangle(const Point& low, const Point& high, const Paint& paint) {
  overlay_.push_back({OverlayItem::Kind::rectangle, low, high, 0, paint, {}, 0});
}

void OverlayBuilder::text(const Point& at, std::string_view words, float height, const Paint& paint, float more) {
  if (words.empty()) return;
  const Point end(at.x() + text_width(words, height), at.y());
  overlay_.push_back({OverlayItem::Kind::text, at, end, height, paint, std::string(words), more});
}

float OverlayBuilder::text_width(std::string_view words, float height) {
  return viewer::text_width(words, height);
}

}  // namespace raylift::viewer
