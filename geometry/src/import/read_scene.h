// SPDX-License-Identifier: Apache-2.0
// The one way from a file to a scene: an Assimp::Importer with Assimp's own importers and raylift's.
#pragma once

#include <raylift/geometry/import/load.h>
#include <string>
#include <vector>

#include "input_file.h"

namespace raylift {

/// Reads a file by the importer that is registered for its format. Throws Error as `load` does.
[[nodiscard]] Scene read_scene(const InputFile& input, const LoadOptions& options, const Progress& progress);

/// File name endings that Assimp reads, lower case, without the dot.
[[nodiscard]] std::vector<std::string> assimp_extensions();

}  // namespace raylift
