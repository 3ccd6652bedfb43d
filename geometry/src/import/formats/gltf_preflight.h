// SPDX-License-Identifier: Apache-2.0
// What Assimp's importer of glTF would read wrongly without a word is refused before it runs.
#pragma once

#include <raylift/geometry/import/load.h>

#include <cstdint>
#include <optional>
#include <string>

#include "import/input_file.h"

namespace raylift {

[[nodiscard]] bool is_gltf(const std::string& extension);

/// The number of triangles in all meshes, as the file states it; nothing for glTF 1 and broken accessors. Throws Error:
/// malformed for a container (.glb) whose header or chunks do not fit the file, or that is no JSON;
/// unsupported, with the extension's name, where an extension that determines the geometry is required or used, or
/// positions are no floats; limit.
[[nodiscard]] std::optional<std::uint64_t> check_gltf(const InputFile& input);

}  // namespace raylift
