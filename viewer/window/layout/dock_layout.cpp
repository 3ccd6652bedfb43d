// SPDX-License-Identifier: Apache-2.0
#include "window/layout/dock_layout.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "draw/overlay/overlay.h"

namespace raylift::viewer {
namespace {

constexpr float kFreeShare = 0.4F;  // of the window's width, that docks leave
constexpr float kMinDock = 180;     // units of a dock
constexpr float kMinFree = 40;      // units, where the window has no room for a dock and the free share
constexpr float kTitle = 26;        // units of a folded panel
constexpr float kMinPanel = 110;    // units of an open one, where its content needs more
constexpr float kMessageHeight = 40, kProgressHeight = 64;  // units
constexpr std::size_t kRightFirst = static_cast<std::size_t>(Panel::image);

/// The panels of a dock that are open, by their numbers, from the top.
std::vector<std::size_t> open_panels(const DockWish& wish, bool right) {
  std::vector<std::size_t> open;
  for (std::size_t i = right ? kRightFirst : 0; i != (right ? kPanels : kRightFirst); ++i)
    if (wish.panels[i].height > 0) open.push_back(i);
  return open;
}

std::uint64_t last_use(const DockWish& wish, const std::vector<std::size_t>& panels) {
  std::uint64_t last = 0;
  for (const std::size_t i : panels) last = std::max(last, wish.panels[i].used);
  return last;
}

struct Widths {
  float left = 0, right = 0;  // px; 0: the dock is closed
};

Widths widths_of(const DockWish& wish, float toolbar, std::uint64_t left_used, std::uint64_t right_used, bool left,
                 bool right) {
  const float gap = kGap * wish.unit, least = kMinDock * wish.unit;
  const float room = wish.width - toolbar, free = kFreeShare * wish.width;
  Widths wide{left ? wish.left_width * wish.unit : 0, right ? wish.right_width * wish.unit : 0};
  const float docks = left && right ? room - free - 4 * gap : room - free - 2 * gap;
  if (left && right && docks < 2 * least) {
    // The dock that was used last stays.
    const bool keep_left = left_used >= right_used;
    return widths_of(wish, toolbar, left_used, right_used, keep_left, !keep_left);
  }
  const float wanted = wide.left + wide.right;
  if (left && right) {
    if (wanted <= docks) return wide;
    // Both give way, by what they have more than the least.
    const float more = std::max(1.0F, wanted - 2 * least), share = (docks - 2 * least) / more;
    return {least + share * std::max(0.0F, wide.left - least), least + share * std::max(0.0F, wide.right - least)};
  }
  // One dock alone, in a window that is so small that it may take more than its share.
  const float half = 0.5F * wish.width - 2 * gap - (left ? toolbar : 0);
  const float alone = std::max(std::min(docks, half), std::min(least, room - kMinFree * wish.unit - 2 * gap));
  const float width = std::min(wanted, std::max(0.0F, alone));
  return {left ? width : 0, right ? width : 0};
}

/// Heights for panels that want more than there is: equal ones, but none more than it wants.
std::vector<float> fair_heights(const std::vector<float>& wanted, float room) {
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });
  std::vector<float> heights(wanted.size(), 0);
  for (std::size_t i = 0; i != order.size(); ++i) {
    const float share = room / static_cast<float>(order.size() - i);
    heights[order[i]] = std::min(wanted[order[i]], share);
    room -= heights[order[i]];
  }
  return heights;
}

void place_column(const DockWish& wish, const std::vector<std::size_t>& panels, float left, float right,
                  DockLayout& layout) {
  const float gap = kGap * wish.unit, title = kTitle * wish.unit;
  const float all = wish.height - gap - gap * static_cast<float>(panels.size());
  std::vector<std::size_t> by_use = panels;
  std::sort(by_use.begin(), by_use.end(),
            [&](std::size_t a, std::size_t b) { return wish.panels[a].used < wish.panels[b].used; });
  // Panels that were used the longest ago fold, until the others have room.
  std::size_t folded = 0;
  const auto room = [&] { return all - title * static_cast<float>(folded); };
  const auto least = [&] {
    float sum = 0;
    for (std::size_t i = folded; i != by_use.size(); ++i)
      sum += std::min(wish.panels[by_use[i]].height, kMinPanel * wish.unit);
    return sum;
  };
  while (folded + 1 < by_use.size() && room() < least()) ++folded;
  for (std::size_t i = 0; i != folded; ++i) layout.panels[by_use[i]].folded = true;
  std::vector<float> wanted;
  for (const std::size_t i : panels)
    if (!layout.panels[i].folded) wanted.push_back(wish.panels[i].height);
  const std::vector<float> heights = fair_heights(wanted, std::max(title, room()));
  float top = gap;
  std::size_t next = 0;
  for (const std::size_t i : panels) {
    DockLayout::PanelBox& place = layout.panels[i];
    const float high = place.folded ? title : heights[next++];
    // A window that is lower than the titles has those that fit.
    if (top + high > wish.height + 0.5F) break;
    place.at = {left, top, right, top + high};
    top += high + gap;
  }
}

}  // namespace

bool intersect(const Rectangle& a, const Rectangle& b) {
  return !a.empty() && !b.empty() && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

DockLayout dock_layout(const DockWish& wish) {
  DockLayout layout;
  const float gap = kGap * wish.unit;
  const float toolbar = wish.toolbar ? std::min(kToolbarWidth * wish.unit, 0.5F * wish.width) : 0;
  if (wish.toolbar) layout.toolbar = {0, 0, toolbar, wish.height};
  const std::vector<std::size_t> left = open_panels(wish, false), right = open_panels(wish, true);
  const Widths wide =
      widths_of(wish, toolbar, last_use(wish, left), last_use(wish, right), !left.empty(), !right.empty());
  layout.free = {toolbar, 0, wish.width, wish.height};
  if (wide.left > 0) {
    place_column(wish, left, toolbar + gap, toolbar + gap + wide.left, layout);
    layout.free.left = toolbar + wide.left + 2 * gap;
  }
  if (wide.right > 0) {
    place_column(wish, right, wish.width - gap - wide.right, wish.width - gap, layout);
    layout.free.right = wish.width - wide.right - 2 * gap;
  }
  const Rectangle& free = layout.free;
  // The overlays count from the lower left.
  const OverlayPlaces overlays =
      overlay_places({Eigen::Vector2f(free.left, 0), Eigen::Vector2f(free.right, wish.height)}, wish.overlay_scale);
  const auto from_upper_left = [&](const Eigen::AlignedBox2f& box) {
    return box.isEmpty()
               ? Rectangle{}
               : Rectangle{box.min().x(), wish.height - box.max().y(), box.max().x(), wish.height - box.min().y()};
  };
  layout.axes = from_upper_left(overlays.axes);
  layout.scale_bar = from_upper_left(overlays.scale_bar);
  float low = wish.height;
  for (const Rectangle& overlay : {layout.axes, layout.scale_bar})
    if (!overlay.empty()) low = std::min(low, overlay.top);
  layout.message = {free.left + gap, gap, free.right - gap, gap + kMessageHeight * wish.unit};
  layout.progress = {free.left + gap, low - gap - kProgressHeight * wish.unit, free.right - gap, low - gap};
  return layout;
}

}  // namespace raylift::viewer
