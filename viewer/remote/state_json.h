// SPDX-License-Identifier: Apache-2.0
// What the viewer shows, as JSON for those outside.
#pragma once

#include "cli/output.h"
#include "state/control_target.h"

namespace raylift::viewer {

/// eye, target, up (of the world), above (of the image), fov, orthographic: look() takes them back.
[[nodiscard]] cli::Json to_json(const Camera& camera);
/// planes, box: what the verb clip tells.
[[nodiscard]] cli::Json clip_json(const Settings& settings);
/// Null where nothing is selected.
[[nodiscard]] cli::Json selection_json(const ViewerState& state);
/// What the verb facts tells.
[[nodiscard]] cli::Json facts_json(const SolidFacts& facts);
/// What is measured, as the verb measure tells it; null where nothing is.
[[nodiscard]] cli::Json measured_json(const ViewerState& state);
/// file, solids, triangles of the scene that is shown; null where none is.
[[nodiscard]] cli::Json scene_json(const ViewerState& state);
/// Everything; its keys are also the parameters of the verbs that change it.
[[nodiscard]] cli::Json state_json(const ControlTarget& of);

}  // namespace raylift::viewer
