// SPDX-License-Identifier: Apache-2.0
#include "window/layout/tip_place.h"

#include <algorithm>

namespace raylift::viewer {

Rectangle tip_place(const TipWish& wish) {
  const auto& [item, panel, wide, high, window_w, window_h, gap] = wish;
  const auto at = [&, wide = wide, high = high](float left, float top) {
    return Rectangle{left, top, left + wide, top + high};
  };
  const auto within = [](float value, float most) { return std::max(0.0F, std::min(value, most)); };
  const bool right = panel.right + gap + wide <= window_w, left = panel.left - gap - wide >= 0;
  const float top = within(item.top, window_h - high);
  if (right && (!left || panel.left + panel.right < window_w)) return at(panel.right + gap, top);
  if (left) return at(panel.left - gap - wide, top);
  const float start = within(item.left, window_w - wide);
  if (item.bottom + gap + high <= window_h || item.top - gap < high) return at(start, item.bottom + gap);
  return at(start, item.top - gap - high);
}

}  // namespace raylift::viewer
