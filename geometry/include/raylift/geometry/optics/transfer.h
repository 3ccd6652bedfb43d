// SPDX-License-Identifier: Apache-2.0
// The optics of a scene for another one of the same solids, whose names may differ: of what export_scene() wrote.
#pragma once

#include <raylift/geometry/scene/scene.h>

namespace raylift {

/// Gives `to` the optics of `from`, resolved. It has the same solids in the same order and in the same tree, such as a
/// scene that export_scene() wrote and load() read again. Surfaces and channels hold for the same solids and pairs,
/// with the same channel numbers; names in the selectors are those of `to`. Materials have the properties of those that
/// are in their place.
///
/// Throws Error(unsupported) where the solids or their tree differ, where a material of `to` is in the place of two
/// with different properties, or where another solid has the same names, path and copy number.
void transfer_optics(const Scene& from, Scene& to);

}  // namespace raylift
