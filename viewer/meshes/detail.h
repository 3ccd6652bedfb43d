// SPDX-License-Identifier: Apache-2.0
// What makes a large scene quicker to draw, and takes a while to find: levels of detail, and what solids hide. No GL.
#pragma once

#include <raylift/geometry/checks/check.h>
#include <raylift/geometry/progress.h>
#include <raylift/geometry/scene/scene.h>

#include <cstdint>
#include <vector>

#include "meshes/levels.h"
#include "meshes/smooth_normals.h"

namespace raylift::viewer {

struct Detail {
  Levels levels;
  std::vector<std::uint32_t> enclosing;  ///< enclosing_solids()
  SmoothNormals normals;                 ///< with bits for the triangles of the levels; empty: not made
};

/// Makes the detail of all meshes. `check` is check(scene). Errors: cancelled, out_of_host_memory, those of
/// find_overlaps().
[[nodiscard]] Detail make_detail(const Scene& scene, const SceneCheck& check, const Progress& progress = {});

}  // namespace raylift::viewer
