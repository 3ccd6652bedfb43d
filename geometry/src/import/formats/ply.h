// SPDX-License-Identifier: Apache-2.0
// PLY, as text and binary of either byte order.
#pragma once

#include <raylift/geometry/import/load.h>

#include "import/document.h"
#include "import/input_file.h"

namespace raylift::imported {

/// Reads the elements "vertex", "face" and "tristrips"; others are skipped. Bytes behind the last element give a
/// warning. Throws Error: malformed for a header that states no vertices or faces, and where the elements that it
/// states are not there; limit; io.
[[nodiscard]] Document read_ply(const InputFile& input, const LoadOptions& options);

}  // namespace raylift::imported
