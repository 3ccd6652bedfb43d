// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/optics/find_solids.h>

#include "select_solids.h"

namespace raylift {

std::vector<std::uint32_t> find_solids(const Scene& scene, const SolidSelector& selector) {
  return detail::SolidIndex(scene).select(selector);
}

std::vector<std::uint32_t> find_solids(const Scene& scene, const std::string& pattern) {
  SolidSelector selector;
  (pattern.find('/') == std::string::npos ? selector.solid : selector.path) = pattern;
  return find_solids(scene, selector);
}

}  // namespace raylift
