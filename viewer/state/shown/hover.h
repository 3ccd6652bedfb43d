// SPDX-License-Identifier: Apache-2.0
// What lies under the resting cursor, in words.
#pragma once

#include <string>

#include "state/shown/shown_scene.h"

namespace raylift::viewer {

struct HoverText {
  std::string name, material;
  std::string position;  ///< "12.5  -3  100 mm", to a tenth of what a pixel shows
  friend bool operator==(const HoverText&, const HoverText&) = default;
};

[[nodiscard]] HoverText hover_text(const ShownScene& shown, const Picked& picked, const Cursor& cursor);

}  // namespace raylift::viewer
