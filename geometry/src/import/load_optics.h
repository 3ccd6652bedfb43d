// SPDX-License-Identifier: Apache-2.0
// The steps of load(): what one process imports, and the optics of other files that are laid over it.
#pragma once

#include <raylift/geometry/import/load.h>

namespace raylift {

/// All of load() but finish_optics(), in this process.
[[nodiscard]] Scene import_scene(const std::filesystem::path& path, const LoadOptions& options,
                                 const Progress& progress);

/// Lays optics_file() over the scene's own optics, checks the whole, and resolves it. Throws Error as load() does.
void finish_optics(Scene& scene, const std::filesystem::path& path, const LoadOptions& options);

}  // namespace raylift
