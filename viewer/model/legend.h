// SPDX-License-Identifier: Apache-2.0
// The legend of an image's colours. No GL.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/settings.h"

namespace raylift::viewer {

struct Legend {
  struct Entry {
    Color color;
    std::string name;
    std::uint64_t solids = 0;  ///< with this colour; 0: not counted
  };
  std::string title;  ///< empty: no legend
  std::vector<Entry> entries;
  std::uint64_t more = 0;  ///< entries left out
  /// Colours from low to high with labels at even distances; empty where there are entries.
  std::vector<Color> ramp;
  std::vector<std::string> labels;

  /// Adds an entry for each kind of what was counted, those of most first: `most` entries, and the number of the
  /// others.
  template <class MakeEntry>  // Entry(std::uint32_t)
  void add_counted(std::vector<std::pair<std::uint32_t, std::uint64_t>> counts, std::size_t most,
                   const MakeEntry& make_entry) {
    std::stable_sort(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    more = counts.size() - std::min(most, counts.size());
    counts.resize(counts.size() - more);
    for (const auto& [kind, count] : counts) {
      entries.push_back(make_entry(kind));
      entries.back().solids = count;
    }
  }
};

}  // namespace raylift::viewer
