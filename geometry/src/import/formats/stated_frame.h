// SPDX-License-Identifier: Apache-2.0
// The unit and up axis that a file states, of formats whose geometry Assimp reads: it keeps few of them.
#pragma once

#include <assimp/scene.h>

#include "import/input_file.h"
#include "polygon_reader.h"

namespace raylift::imported {

/// AMF, DXF, FBX, IFC, OpenGEX and X3D state a unit. glTF, LightWave and Blender imply one. All others: millimetres,
/// assumed. Throws Error(malformed) for a unit that the format doesn't have.
[[nodiscard]] Frame stated_frame(const aiScene& imported, const InputFile& input);

}  // namespace raylift::imported
