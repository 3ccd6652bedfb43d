// SPDX-License-Identifier: Apache-2.0
// The parts of the import process, for raylift-import and for a test's program that misbehaves between them.
#pragma once

#include <raylift/geometry/import/load.h>

#include <functional>
#include <vector>

#include "load_optics.h"

namespace raylift::import {

/// Reads a scene inside the sandbox, as import_scene() does.
using ReadScene = std::function<Scene(const SceneInputs&, const LoadOptions&, const Progress&)>;

/// Serves one request, as import_process() does, with a scene that `read` returns.
int serve(const ReadScene& read);

/// Writes a scene and its stages to the result, but does not report that it is complete.
void write_result(const Scene& scene, const std::vector<Progress::StageTime>& times);

}  // namespace raylift::import
