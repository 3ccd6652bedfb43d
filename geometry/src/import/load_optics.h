// SPDX-License-Identifier: Apache-2.0
// The steps of load(): what one process imports, and the optics of other files that are laid over it.
#pragma once

#include <raylift/geometry/import/load.h>

#include "input_file.h"

namespace raylift {

/// Imports the scene in this process: load() without finish_optics().
[[nodiscard]] Scene import_scene(const InputFile& input, const LoadOptions& options, const Progress& progress);

/// Lays optics_file() over the scene's own optics, checks the whole, and resolves it. Throws Error as load() does.
void finish_optics(Scene& scene, const std::filesystem::path& path, const LoadOptions& options);

}  // namespace raylift
