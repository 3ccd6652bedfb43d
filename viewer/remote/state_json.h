// SPDX-License-Identifier: Apache-2.0
// The viewer's state as JSON.
#pragma once

#include "cli/output.h"
#include "state/control_target.h"

namespace raylift::viewer {

/// eye, target, up (of the world), above (of the image), fov, orthographic. The verb look reads it.
[[nodiscard]] cli::Json to_json(const Camera& camera);
/// planes, box: the answer of the verb clip.
[[nodiscard]] cli::Json clip_json(const Settings& settings);
/// Null without a selection.
[[nodiscard]] cli::Json selection_json(const ViewerState& state);
/// The answer of the verb facts.
[[nodiscard]] cli::Json facts_json(const SolidFacts& facts);
/// The answer of the verb measure; null without points.
[[nodiscard]] cli::Json measured_json(const ViewerState& state);
/// file, solids, triangles of the scene that is shown; null without a scene.
[[nodiscard]] cli::Json scene_json(const ViewerState& state);
/// The work that goes on, and its share, from 0 to 1 or null where it is unknown; null without work.
[[nodiscard]] cli::Json progress_json(const ControlTarget& of);
/// The whole state; its keys are also the parameters of the verbs that change it.
[[nodiscard]] cli::Json state_json(const ControlTarget& of);

}  // namespace raylift::viewer
