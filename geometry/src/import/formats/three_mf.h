// SPDX-License-Identifier: Apache-2.0
// 3MF: a zip archive of XML.
#pragma once

#include <raylift/geometry/import/load.h>

#include "import/document.h"
#include "import/input_file.h"
#include "polygon_reader.h"

namespace raylift::imported {

/// The core specification and the production extension: objects, components in any part of the archive, the build's
/// items, units, base materials. Throws Error: malformed, with the object; unsupported for an extension that the file
/// requires and that determines the geometry; limit; io.
[[nodiscard]] Document read_three_mf(const InputFile& input, const LoadOptions& options);

/// Its unit and up axis, for a geometry that Assimp reads. Throws Error: malformed, limit, io.
[[nodiscard]] Frame frame_of_three_mf(const InputFile& input, const LoadOptions& options);

}  // namespace raylift::imported
