// SPDX-License-Identifier: Apache-2.0
// Wavefront OBJ with its materials.
#pragma once

#include <raylift/geometry/import/load.h>

#include <functional>
#include <optional>
#include <string>

#include "import/document.h"
#include "import/input_file.h"

namespace raylift::imported {

/// The text of a file beside the input, by its name in the input; nothing where it can't be opened.
using OpenBeside = std::function<std::optional<std::string>(const std::string& name)>;

/// `text` is the input's, in UTF-8. A solid for each name of 'o' and 'g', a part for each material in it. Texture
/// coordinates and normals are not looked at. Statements without a meaning for surfaces are counted in a warning.
/// Throws Error: malformed, with the line; unsupported for free-form surfaces and files that call others; limit.
[[nodiscard]] Document read_obj(const std::string& text, const InputFile& input, const LoadOptions& options,
                                const OpenBeside& open);

}  // namespace raylift::imported
