// SPDX-License-Identifier: Apache-2.0
// GDML, Geant4's own format of detectors, as a scene: docs/gdml.md lists what is read.
#pragma once

#include <raylift/geometry/import/load.h>

#include "import/document.h"
#include "import/gdml/elements/gdml_text.h"
#include "import/input_file.h"

namespace raylift::gdml {

/// Reads a file and those beside it that it refers to, which `open` opens. The scene has the optics of all of them.
/// Throws Error: malformed, unsupported, limit, io, cancelled.
[[nodiscard]] imported::Document read_gdml_scene(const InputFile& input, std::string text, const LoadOptions& options,
                                                 const Progress& progress, const OpenFile& open);

}  // namespace raylift::gdml
