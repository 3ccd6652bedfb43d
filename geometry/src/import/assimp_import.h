// SPDX-License-Identifier: Apache-2.0
// The two things that Assimp does for raylift: cut the polygons of a COLLADA document, whose numbers the preflight has
// read, and read every other format whole.
#pragma once

#include <raylift/geometry/import/load.h>
#include <filesystem>
#include <string>
#include <vector>

#include "collada.h"

namespace raylift {

/// Fills the meshes of `document.scene` from `document.geometries`, and empties these. Throws Error: malformed, limit,
/// out_of_host_memory.
void import_geometries(collada::Document& document, const std::string& file, const LoadOptions& options,
                       const Progress& progress);

/// Reads a file of any format but COLLADA. Throws Error as `load` does.
[[nodiscard]] Scene import_file(const std::filesystem::path& path, const LoadOptions& options,
                                const Progress& progress);

/// File name endings that Assimp reads, lower case, without the dot.
[[nodiscard]] std::vector<std::string> assimp_extensions();

}  // namespace raylift
