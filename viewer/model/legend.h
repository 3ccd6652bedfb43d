// SPDX-License-Identifier: Apache-2.0
// The legend of an image's colours. No GL.
#pragma once

#include <cstdint>
#include <string>
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
};

}  // namespace raylift::viewer
