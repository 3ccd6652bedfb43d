// SPDX-License-Identifier: Apache-2.0
// How finely positions in a scene are resolved, and how thick a solid has to be for that. For kernels and host code.
#pragma once

#include <raylift/geometry/compiler.h>
#include <raylift/geometry/vector_types.h>

namespace raylift {

/// The step to which a fine geometry resolves a photon's position, as a part of the scene's largest coordinate relative
/// to the view's origin. It holds where the vertices of a mesh are known better than floats. Else their rounding is
/// larger.
inline constexpr double kPositionStep = 0x1p-41;

/// A solid is resolved if it is at least so many steps thick. Each of its two faces is off by at most half a step, so
/// its thickness, and the light that it absorbs, are right within 1 %.
inline constexpr double kResolvedSteps = 100;

/// Where positions are floats, a thinner layer is not resolved: as a part of the scene's largest coordinate. A photon
/// that enters a layer is rounded by half a float step, up to 2^-24 of that, so its path through a thicker layer is off
/// by 1.1 % at most.
inline constexpr double kThinLayer = 0x1.6p-18;
/// The step of positions there, in the sense of kPositionStep.
inline constexpr double kFloatPositionStep = kThinLayer / kResolvedSteps;

/// What a coordinate that is known as a float may be off by, as a part of it: the step of the floats above it.
inline constexpr double kFloatStep = 0x1p-23;

}  // namespace raylift
