// SPDX-License-Identifier: Apache-2.0
#include "hit_image.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace raylift::batch {
namespace {

constexpr float kNothing = -1;
constexpr float kDarkest = 40;  // of what is hit: black is for what is not

std::uint8_t channel(float value) {
  return static_cast<std::uint8_t>(std::clamp(value + 0.5F, 0.0F, 255.0F));
}

}  // namespace

HitImage::HitImage(ImageKind kind, std::uint32_t width, std::uint32_t height)
    : kind_(kind), width_(width), height_(height), seen_(std::size_t{width} * height, Seen{kNothing, {0, 0, 0}}) {}

void HitImage::add(std::uint64_t first, std::span<const Hit> hits) {
  for (std::size_t i = 0; i != hits.size() && first + i < seen_.size(); ++i)
    if (hits[i].valid()) seen_[first + i] = {hits[i].t, hits[i].normal};
}

Image HitImage::image() const {
  float nearest = std::numeric_limits<float>::infinity(), farthest = 0;
  for (const Seen& one : seen_) {
    if (one.t == kNothing) continue;
    nearest = std::min(nearest, one.t);
    farthest = std::max(farthest, one.t);
  }
  const float range = std::max(farthest - nearest, std::numeric_limits<float>::min());
  Image image(static_cast<int>(width_), static_cast<int>(height_));
  for (std::size_t i = 0; i != seen_.size(); ++i) {
    const Seen& one = seen_[i];
    Pixel& pixel = image.pixels[i];
    pixel = {0, 0, 0, 255};
    if (one.t == kNothing) continue;
    if (kind_ == ImageKind::depth) {
      const std::uint8_t grey = channel(255 - (255 - kDarkest) * (one.t - nearest) / range);
      pixel = {grey, grey, grey, 255};
    } else {
      const float length = std::hypot(one.normal.x, one.normal.y, one.normal.z);
      const auto shade = [length](float n) { return channel(127.5F + 127.5F * (length > 0 ? n / length : 0)); };
      pixel = {shade(one.normal.x), shade(one.normal.y), shade(one.normal.z), 255};
    }
  }
  return image;
}

}  // namespace raylift::batch
