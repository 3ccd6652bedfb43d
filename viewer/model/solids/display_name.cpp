// SPDX-License-Identifier: Apache-2.0
#include "model/solids/display_name.h"

#include "geometry/src/scene/names.h"

#include <algorithm>

namespace raylift::viewer {

std::string display_name(std::string_view name) {
  std::string shown;
  for (;;) {
    const std::size_t end = std::min(name.find('/'), name.size());
    shown += base_name(name.substr(0, end));
    if (end == name.size()) return shown;
    shown += '/';
    name.remove_prefix(end + 1);
  }
}

}  // namespace raylift::viewer
