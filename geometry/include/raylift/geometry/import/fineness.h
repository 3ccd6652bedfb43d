// SPDX-License-Identifier: Apache-2.0
// How finely the curved surfaces of a file's solids are cut into facets.
#pragma once

#include <cstdint>
#include <string_view>

namespace raylift {

/// How finely the solids of GDML and STEP are tessellated.
struct Fineness {
  /// Where facets lie against the true surface.
  enum class Fit : std::uint8_t {
    volume,     ///< facets lie so that volumes are kept
    area,       ///< ... that areas are
    inscribed,  ///< vertices lie on the true surface
  };

  double chord = 0;         ///< the largest distance of a facet from the true surface, mm; 0: 1e-3 of the solid's size
  std::uint32_t steps = 0;  ///< facets of a full turn; 0: by `chord`
  Fit fit = Fit::volume;    ///< of GDML's primitives: the vertices of booleans and of STEP lie on the true surface
};

/// The name as options have it: "volume", "area", "inscribed".
[[nodiscard]] constexpr std::string_view to_string(Fineness::Fit fit) noexcept {
  return fit == Fineness::Fit::volume ? "volume" : fit == Fineness::Fit::area ? "area" : "inscribed";
}

}  // namespace raylift
