// SPDX-License-Identifier: Apache-2.0
// Which solids a point is in. For kernels and host code.
#pragma once

#include <raylift/geometry/detail/standard.h>
#include <raylift/geometry/vector_types.h>

namespace raylift {

/// No solid: outside of all.
inline constexpr std::uint32_t kNoSolid = 0xFFFFFFFFu;

/// The set of solids that contain a point: a solid and its mothers, up to the top. Where solids overlap although they
/// should not, up to two exceptions make it any other set: a solid among the mothers that does not contain the point,
/// or one not among them that does.
struct Containment {
  std::uint32_t solid = kNoSolid;  ///< the innermost one: an index in GeometryView::solids
  std::uint32_t exceptions[2] = {kNoSolid, kNoSolid};

  /// Exactly a solid and its mothers.
  [[nodiscard]] RAYLIFT_HD bool consistent() const { return exceptions[0] == kNoSolid && exceptions[1] == kNoSolid; }
};

}  // namespace raylift
