// SPDX-License-Identifier: Apache-2.0
// What the image's colours mean. No GL.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "settings.h"

namespace raylift::viewer {

struct Legend {
  struct Entry {
    Color color;
    std::string name;
    std::uint64_t solids = 0;  ///< that have it; 0 where that is not counted
  };
  std::string title;  ///< empty: the colours mean nothing
  std::vector<Entry> entries;
  std::uint64_t more = 0;  ///< entries left out
  /// Colours from low to high with labels at even distances; empty where there are entries.
  std::vector<Color> ramp;
  std::vector<std::string> labels;
};

/// The legend of the visible solids; `looks` has the Look of each. `depths`: the range of a depth image, mm.
[[nodiscard]] Legend make_legend(const Scene& scene, const Settings& settings, std::span<const std::uint8_t> looks,
                                 std::optional<std::pair<double, double>> depths, std::size_t most = 24);

}  // namespace raylift::viewer
