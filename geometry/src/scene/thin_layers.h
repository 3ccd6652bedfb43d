// SPDX-License-Identifier: Apache-2.0
// Whether a scene has layers that floats are too coarse for.
#pragma once

#include <raylift/geometry/resolution.h>
#include <raylift/geometry/scene/scene.h>

#include <optional>

namespace raylift {

/// Whether a solid is thinner than kThinLayer of the scene's largest coordinate from `origin`, by default
/// default_origin(); or the layer between a solid and a daughter that has its shape; or the gap between two daughters.
/// A solid's thickness is twice its volume by its surface, as it is for plates and shells. Layers are those between the
/// solids' boxes; gaps are those along an axis, between the parts of two solids within that limit of the sides of their
/// boxes. Both are looked for where daughters are not turned against their mother. A gap counts if it is wider than
/// 1e-6 of its coordinate in the mother, as many files state places to six digits.
[[nodiscard]] bool has_thin_layers(const Scene& scene, const std::optional<Double3>& origin = {});

}  // namespace raylift
