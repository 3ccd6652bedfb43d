// SPDX-License-Identifier: Apache-2.0
// The tree of solids: which solid (an instance of the scene) contains which, as the file's tree of nodes says.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <cstdint>
#include <span>
#include <vector>

namespace raylift {

/// Mother, depth and daughters of every solid. Solids are numbered as in Scene::instances.
struct SolidTree {
  std::vector<std::uint32_t> mother;          ///< the solid around it, or kNone: nothing is around it
  std::vector<std::uint32_t> depth;           ///< how many mothers are above it
  std::vector<std::uint32_t> daughter_begin;  ///< one more than there are solids: where each one's daughters begin
  std::vector<std::uint32_t> daughters;       ///< by mother, in the order of Scene::instances

  [[nodiscard]] std::size_t size() const { return mother.size(); }
  /// The solids whose mother is `solid`.
  [[nodiscard]] std::span<const std::uint32_t> daughters_of(std::uint32_t solid) const {
    return std::span(daughters).subspan(daughter_begin[solid], daughter_begin[solid + 1] - daughter_begin[solid]);
  }
};

/// A solid's mother is the first solid of the nearest node above its own that has one. Several solids of one node are
/// siblings. Errors: usage (an instance or a node that refers to a node which does not stand before it).
[[nodiscard]] SolidTree solid_tree(const Scene& scene);

}  // namespace raylift
