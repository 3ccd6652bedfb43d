// SPDX-License-Identifier: Apache-2.0
// The legend of an image's colours. No GL.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/text.h"
#include "model/colors/palette.h"
#include "model/colors/value_scale.h"
#include "model/settings/settings.h"

namespace raylift::viewer {

struct Legend {
  struct Entry {
    Color color;
    std::string name;
    std::uint64_t count = 0;                 ///< of what has this colour; 0: not counted
    std::vector<std::uint32_t> solids = {};  ///< that a click on it gives another colour; empty: it can't
    std::string where = {};  ///< "covered": why it may not be seen; empty: it is on the outside of solids
    std::string hint = {};   ///< where it is, and how to see it: a sentence
    /// Name, count and where: "CathodeSurface (300), covered".
    [[nodiscard]] std::string text() const {
      return name + (count > 1 ? " (" + cli::grouped(count) + ")" : "") + (where.empty() ? "" : ", " + where);
    }
  };
  std::string title;  ///< empty: no legend
  std::vector<Entry> entries;
  std::uint64_t more = 0;  ///< entries left out
  std::string note;        ///< a line below; empty: none
  /// Colours from low to high with their ticks; empty where there are entries alone.
  std::vector<Color> ramp;
  std::vector<Tick> ticks;
  /// The ends of the scale, where the settings have its map, range and logarithm.
  std::optional<Between<double>> range;
  bool of_light = false;  ///< those of light; else those of solids

  /// A kind of what is counted: how many there are, and how many of them are shown.
  struct Counted {
    std::uint32_t kind;
    std::uint64_t all, shown;
    std::uint32_t color = 0;                 ///< that these have of their own, sRGB 0xAABBGGRR; 0: none
    std::vector<std::uint32_t> solids = {};  ///< that are shown
  };
  /// Adds an entry for each kind that is shown: `most` entries, and the number of the others. The order is that of
  /// all, those of most first, so it stays when some are hidden.
  template <class MakeEntry>  // Entry(std::uint32_t)
  void add_counted(std::vector<Counted> counts, std::size_t most, const MakeEntry& make_entry) {
    std::stable_sort(counts.begin(), counts.end(), [](const Counted& a, const Counted& b) { return a.all > b.all; });
    std::erase_if(counts, [](const Counted& one) { return one.shown == 0; });
    more = counts.size() - std::min(most, counts.size());
    counts.resize(counts.size() - more);
    for (Counted& one : counts) {
      entries.push_back(make_entry(one.kind));
      entries.back().count = one.shown;
      entries.back().solids = one.solids;
      if (one.color != 0) entries.back().color = unpacked(one.color);
    }
  }
};

}  // namespace raylift::viewer
