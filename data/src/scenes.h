// SPDX-License-Identifier: Apache-2.0
// Small scenes whose light is known: what simulations of photons are tested with.
#pragma once

#include "detector.h"

namespace raylift::detector {

/// Simphony's five boxes, one in the other, in mm: a world of liquid argon, a detecting shell, two wavelength shifters
/// and the argon in them. With `touching`, the lower faces of all but the world lie in one plane.
[[nodiscard]] Detector argon_box(bool touching);

/// A sphere of water in air, 1 m in diameter.
[[nodiscard]] Detector water_sphere(std::uint32_t segments);

/// A hollow sphere, 1 m in diameter, with a small detecting disc inside of its wall.
[[nodiscard]] Detector integrating_sphere(std::uint32_t segments);

}  // namespace raylift::detector
