// SPDX-License-Identifier: Apache-2.0
#include "refine.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "import/gdml/shapes/closed_surface.h"

namespace raylift::gdml {

Cut cut_of(double size, double smallest, const Fineness& fineness) {
  constexpr double kMaxTurnSteps = 2048;  // as of primitives
  const double least = 1e-6 * size;
  if (fineness.steps > 0 || fineness.chord > 0) {
    const double angle = std::max(fineness.steps > 0 ? 2 * std::numbers::pi / fineness.steps : 0.5,
                                  2 * std::numbers::pi / kMaxTurnSteps);
    const double chord = fineness.steps > 0 ? size / 2 * (1 - std::cos(angle / 2)) : fineness.chord;
    return {{std::max(chord, least), angle}, false};
  }
  // A deflection by the whole's size would pierce thin walls; one by the smallest feature alone would never end.
  const double deflection = smallest > 0 ? std::min(1e-3 * size, 0.05 * smallest) : 1e-3 * size;
  return {{std::max(deflection, 1e-5 * size), 0.25}, true};
}

Refined refined(const std::function<Surface(const occt::Meshing&)>& mesh, const Cut& cut, double volume, double area) {
  constexpr double kRight = 9e-4;
  constexpr std::size_t kMaxTriangles = 200'000;
  const auto off_by = [&](const Surface& surface) {
    const double of_area = area > 0 ? std::abs(gdml::area(surface) / area - 1) : 0;
    return volume > 0 ? std::max(std::abs(enclosed_volume(surface) / volume - 1), of_area) : of_area;
  };
  Refined result{mesh(cut.meshing), cut.meshing};
  double off = off_by(result.surface);
  for (int round = 0; cut.refine && off > kRight && off < 0.5 && round < 4; ++round) {
    if (result.surface.triangles.size() > kMaxTriangles) break;
    // What is lost goes with the square of the angle, as the deflection does.
    const double factor = std::clamp(7e-4 / off, 0.2, 0.8), before = off;
    result.meshing = {factor * result.meshing.deflection, std::sqrt(factor) * result.meshing.angle};
    result.surface = mesh(result.meshing);
    off = off_by(result.surface);
    if (off > 0.9 * before) break;  // something else is wrong
  }
  return result;
}

}  // namespace raylift::gdml
