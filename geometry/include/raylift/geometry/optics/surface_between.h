// SPDX-License-Identifier: Apache-2.0
// The optical surface between two solids.
#pragma once

#include <raylift/geometry/scene/scene.h>
#include <raylift/geometry/scene/solids.h>

#include <cstdint>

namespace raylift {

struct SurfaceChoice {
  /// The rule that selects a surface.
  enum class Rule : std::uint8_t {
    none,             ///< no surface: only the two refractive indices matter
    border,           ///< a border surface of this ordered pair
    skin_of_entered,  ///< the skin of the solid entered
    skin_of_left,     ///< the skin of the solid left
  };

  Rule rule = Rule::none;
  std::uint32_t assignment = kNone;  ///< index in Optics::assignments
  std::uint32_t surface = kNone;     ///< index in Optics::surfaces
  friend bool operator==(const SurfaceChoice&, const SurfaceChoice&) = default;
};

/// The surface that a photon meets on its way from the solid `from` into the solid `to`, by Geant4's precedence
/// (G4OpBoundaryProcess): the border surface of the ordered pair; otherwise, if `to` is a daughter of `from`, the skin
/// of `to`, then that of `from`; otherwise the skin of `from`, then that of `to`. No surface if one of them is kNone:
/// outside of all solids the photon has left the scene.
///
/// `tree` is solid_tree(scene). O(log borders). Errors: usage (no such solid).
[[nodiscard]] SurfaceChoice surface_between(const Scene& scene, const SolidTree& tree, std::uint32_t from,
                                            std::uint32_t to);

/// Fills Optics::skins, borders and channels from the assignments, by resolving the solids of each. If two assignments
/// of the same kind match the same solid or pair, the later one wins. An assignment that matches no solid gives a
/// warning in Scene::report, and so does a material without RINDEX that light reaches from its solid's mother or
/// daughter: in Geant4 light ends there. A border applies between a mother and a daughter and between siblings; other
/// solids never touch. Errors: usage (an index of the optics out of range), malformed (two channels with one number),
/// limit (more than 2^26 borders).
void resolve_optics(Scene& scene);

}  // namespace raylift
