// SPDX-License-Identifier: Apache-2.0
// Importing in a child process, so that nothing an importer does can harm the caller.
#pragma once

#include <raylift/geometry/import/load.h>

#include "load_optics.h"

namespace raylift {

/// `load` with the same options but `isolate`, run by the program raylift-import under the limits of `options`. What
/// the child reports, or how it ended, becomes the same Error that `load` would throw, or one of kind malformed (crash)
/// or limit (time, memory) that names the signal and the file.
[[nodiscard]] Scene load_isolated(const SceneInputs& inputs, const LoadOptions& options, const Progress& progress);

}  // namespace raylift
