// SPDX-License-Identifier: Apache-2.0
// STL, as text and binary.
#pragma once

#include <raylift/geometry/import/load.h>

#include "import/document.h"
#include "import/input_file.h"

namespace raylift::imported {

/// Keywords in any case; facets of any number of corners; several solids; bytes behind the last facet, with a warning.
/// Throws Error: malformed where a text has other words or ends within a solid, or a binary file has no room for its
/// facets; limit; io.
[[nodiscard]] Document read_stl(const InputFile& input, const LoadOptions& options);

}  // namespace raylift::imported
