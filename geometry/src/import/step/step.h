// SPDX-License-Identifier: Apache-2.0
// STEP files of CAD programs as a scene: docs/formats.md lists what is read.
#pragma once

#include <raylift/geometry/import/load.h>

#include <string_view>

#include "import/document.h"
#include "import/input_file.h"

namespace raylift::step {

/// Reads a file, whose contents are `text`. Throws Error: malformed, unsupported, limit, cancelled.
[[nodiscard]] imported::Document read_step_scene(const InputFile& input, std::string_view text,
                                                 const LoadOptions& options, const Progress& progress);

}  // namespace raylift::step
