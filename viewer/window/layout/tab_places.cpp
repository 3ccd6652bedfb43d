// SPDX-License-Identifier: Apache-2.0
#include "window/layout/tab_places.h"

#include <algorithm>
#include <functional>

namespace raylift::viewer {
namespace {

std::vector<TabPlace> in_rows(std::span<const TabWish> tabs, float room, float gap,
                              const std::function<bool(std::size_t)>& has_word) {
  std::vector<TabPlace> places;
  float left = 0;
  int row = 0;
  for (std::size_t i = 0; i != tabs.size(); ++i) {
    const bool word = has_word(i);
    const float width = std::min(room, word ? tabs[i].word : tabs[i].icon);
    if (left > 0 && left + width > room) {
      left = 0;
      ++row;
    }
    places.push_back({left, width, row, word});
    left += width + gap;
  }
  return places;
}

}  // namespace

std::vector<TabPlace> place_tabs(std::span<const TabWish> tabs, std::size_t chosen, float room, float gap) {
  const bool icons = std::all_of(tabs.begin(), tabs.end(), [](const TabWish& one) { return one.icon > 0; });
  const auto words = in_rows(tabs, room, gap, [](std::size_t) { return true; });
  if (tabs.empty() || !icons || words.back().row == 0) return words;
  const auto one_word = in_rows(tabs, room, gap, [&](std::size_t i) { return i == chosen; });
  if (one_word.back().row == 0) return one_word;
  return in_rows(tabs, room, gap, [](std::size_t) { return false; });
}

}  // namespace raylift::viewer
