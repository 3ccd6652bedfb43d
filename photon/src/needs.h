// SPDX-License-Identifier: Apache-2.0
// What a geometry must have for light.
#pragma once

#include <raylift/geometry/error.h>
#include <raylift/gpu/view.h>

namespace raylift::photon {

/// Throws Error(usage).
inline void require_optics(const GeometryView& view) {
  if (view.bvh_levels == 0)
    throw Error(ErrorKind::usage, "the geometry was uploaded without its BVH", {}, "set UploadOptions::bvh");
  if (view.optics.materials == nullptr)
    throw Error(ErrorKind::usage, "the geometry has no optics: light would end at once", {},
                "give the scene a sidecar, see docs/optics.md");
}

}  // namespace raylift::photon
