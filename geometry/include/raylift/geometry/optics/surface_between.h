// SPDX-License-Identifier: Apache-2.0
// Which optical surface holds between two solids.
#pragma once

#include <raylift/geometry/scene/scene.h>
#include <raylift/geometry/scene/solids.h>

#include <cstdint>

namespace raylift::inline v0_1 {

/// Why a surface holds.
enum class SurfaceRule : std::uint8_t {
  none,             ///< none does: only the two refractive indices act
  border,           ///< a border surface of this ordered pair
  skin_of_entered,  ///< the skin of the solid entered
  skin_of_left,     ///< the skin of the solid left
};

struct SurfaceChoice {
  SurfaceRule rule = SurfaceRule::none;
  std::uint32_t assignment = kNone;  ///< index in Optics::assignments
  std::uint32_t surface = kNone;     ///< index in Optics::surfaces
  friend bool operator==(const SurfaceChoice&, const SurfaceChoice&) = default;
};

/// The surface that a photon meets which goes out of the solid `from` into the solid `to`, by Geant4's precedence
/// (G4OpBoundaryProcess): the border surface of the ordered pair; or else, where `to` is a daughter of `from`, the skin
/// of `to` and then that of `from`; or else the skin of `from` and then that of `to`. Nothing holds where one of them
/// is kNone: outside of all solids the photon has left the scene.
///
/// `tree` is solid_tree(scene). O(log borders). Errors: usage (no such solid).
[[nodiscard]] SurfaceChoice surface_between(const Scene& scene, const SolidTree& tree, std::uint32_t from,
                                            std::uint32_t to);

/// Fills Optics::skins, borders and channels from the assignments: which solids each one means. Where two assignments
/// of the same kind mean the same solid or pair, the later one holds. An assignment that means no solid is a warning in
/// Scene::report, and so is a material without RINDEX that light reaches from its solid's mother or daughter: in Geant4
/// it ends there. A border holds between a mother and a daughter and between siblings; others never touch.
/// Errors: usage (an index of the optics out of range), malformed (two channels with one number), limit (more than
/// 2^26 borders).
void resolve_optics(Scene& scene);

}  // namespace raylift::inline v0_1
