// SPDX-License-Identifier: Apache-2.0
// The action render: a picture of the scene, drawn by the program raylift-view. This program itself links no GL.
#pragma once

#include "actions.h"

namespace raylift::batch {

[[nodiscard]] cli::Json render_scene(SceneWork& work);

/// Throws Error: unsupported where raylift-view is not installed, usage where no folder for pictures was given.
void check_renderer(const ActionOptions& options);

}  // namespace raylift::batch
