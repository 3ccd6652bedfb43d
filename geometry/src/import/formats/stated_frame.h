// SPDX-License-Identifier: Apache-2.0
// The unit and up axis that a file states, of formats whose geometry Assimp reads: it keeps few of them.
#pragma once

#include <assimp/scene.h>

#include <string_view>

#include "import/input_file.h"
#include "polygon_reader.h"

namespace raylift::imported {

/// 3MF, AMF, DXF, FBX, IFC, OpenGEX and X3D state a unit. glTF, LightWave and Blender imply one. All others:
/// millimetres, assumed. Throws Error(malformed) for a unit that the format doesn't have.
[[nodiscard]] Frame stated_frame(const aiScene& imported, const InputFile& input, const LoadOptions& options);

/// The unit and up axis of a COLLADA document that Assimp has read, which makes them the root's transform; this becomes
/// the identity. `text` shows whether the document states them. Throws Error(malformed) where the root's transform is
/// anything else, as for a unit of 0 metres.
[[nodiscard]] Frame take_collada_frame(aiNode& root, std::string_view text, const InputFile& input);

}  // namespace raylift::imported
