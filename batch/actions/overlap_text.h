// SPDX-License-Identifier: Apache-2.0
// What find_overlaps found, as text and as JSON.
#pragma once

#include <raylift/geometry/checks/overlaps.h>

#include <cstddef>
#include <string>

#include "cli/output.h"

namespace raylift::batch {

/// A table of the overlaps, `most` at most, and a line that sums up.
[[nodiscard]] std::string overlaps_text(const Scene& scene, const OverlapReport& report, std::size_t most);

/// The counts, and lists of the overlaps, `most` at most, and of the touching pairs.
[[nodiscard]] cli::Json overlaps_json(const Scene& scene, const OverlapReport& report, std::size_t most);

}  // namespace raylift::batch
