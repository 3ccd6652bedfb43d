// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/geometry/optics/surface_between.h>

#include <algorithm>
#include <string>
#include <utility>

namespace raylift {
namespace {

/// Geant4 compares logical volumes: the mother of `to` may be another placement of what `from` places.
bool enters_daughter(const Scene& scene, const SolidTree& tree, std::uint32_t from, std::uint32_t to) {
  const std::uint32_t mother = tree.mother[to];
  if (mother == from) return true;
  if (mother == kNone) return false;
  const auto volume = [&](std::uint32_t solid) {
    const std::uint32_t node = scene.instances[solid].node;
    return node == kNone ? kNone : scene.nodes[node].volume;
  };
  return volume(mother) != kNone && volume(mother) == volume(from);
}

}  // namespace

SurfaceChoice surface_between(const Scene& scene, const SolidTree& tree, std::uint32_t from, std::uint32_t to) {
  if (from == kNone || to == kNone) return {};
  for (const std::uint32_t solid : {from, to})
    if (solid >= tree.size())
      throw Error(ErrorKind::usage, "the scene has no solid " + std::to_string(solid), {scene.source, ""});
  const Optics& optics = scene.optics;
  const auto choice = [&](SurfaceChoice::Rule rule, std::uint32_t assignment) {
    return SurfaceChoice{rule, assignment, optics.assignments[assignment].surface};
  };

  const auto key = [](const Optics::Border& border) { return std::pair(border.from, border.to); };
  const auto border =
      std::lower_bound(optics.borders.begin(), optics.borders.end(), std::pair(from, to),
                       [&](const Optics::Border& one, const auto& wanted) { return key(one) < wanted; });
  if (border != optics.borders.end() && key(*border) == std::pair(from, to))
    return choice(SurfaceChoice::Rule::border, border->assignment);

  if (optics.skins.empty()) return {};
  const auto entered = [&] { return choice(SurfaceChoice::Rule::skin_of_entered, optics.skins[to]); };
  const auto left = [&] { return choice(SurfaceChoice::Rule::skin_of_left, optics.skins[from]); };
  const bool daughter_first = enters_daughter(scene, tree, from, to);
  if (daughter_first && optics.skins[to] != kNone) return entered();
  if (optics.skins[from] != kNone) return left();
  if (optics.skins[to] != kNone) return entered();
  return {};
}

}  // namespace raylift
