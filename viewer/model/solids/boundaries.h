// SPDX-License-Identifier: Apache-2.0
// The boundaries between the materials of a scene, and the optical surfaces on them. No GL.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <cstdint>
#include <string>
#include <vector>

#include "model/solids/word_query.h"

namespace raylift::viewer {

/// Where light goes from one material into another, by one optical surface or by none.
struct Boundary {
  std::uint32_t from = kNone, to = kNone;  ///< materials
  std::uint32_t surface = kNone;           ///< index in Optics::surfaces; kNone: the refractive indices alone matter
  bool border = false;                     ///< a border surface; else a skin surface
  bool both_ways = false;                  ///< the same from `to` into `from`
  /// Ascending: the daughters, where the boundary is that with their mother; both solids of a border between siblings.
  std::vector<std::uint32_t> solids;
  std::uint64_t triangles = 0;  ///< of these daughters
};

/// All of them, by surface_between(): those with a surface first, in the order of surfaces; then those of most solids.
[[nodiscard]] std::vector<Boundary> boundaries(const Scene& scene);

/// "CathodeSurface, skin surface", "no surface".
[[nodiscard]] std::string surface_text(const Scene& scene, const Boundary& boundary);
/// "between Glass and Vacuum", "from Water into Steel".
[[nodiscard]] std::string materials_text(const Scene& scene, const Boundary& boundary);
/// Whether each word is in one of these texts.
[[nodiscard]] bool fits(const WordQuery& query, const Scene& scene, const Boundary& boundary);

}  // namespace raylift::viewer
