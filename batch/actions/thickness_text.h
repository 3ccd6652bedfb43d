// SPDX-License-Identifier: Apache-2.0
// What measure_thickness found, as text, as JSON, as warnings and as a refusal.
#pragma once

#include <raylift/geometry/checks/thickness.h>

#include <cstddef>
#include <functional>
#include <string>

#include "cli/output.h"

namespace raylift::batch {

/// How a check measures: against the positions that photons would have, in two levels.
[[nodiscard]] ThicknessReport::Options thickness_options(const Scene& scene);

/// A table of the thinnest solids, `most` at most; a list of those that are thinner than can be resolved,
/// `most_unresolved` at most; and a line that sums up.
[[nodiscard]] std::string thickness_text(const Scene& scene, const ThicknessReport& report, std::size_t most,
                                         std::size_t most_unresolved);

/// The counts, and lists of the thinnest solids, alike ones together, and of those that are thinner than can be
/// resolved, each by itself; `most` at most.
[[nodiscard]] cli::Json thickness_json(const Scene& scene, const ThicknessReport& report, std::size_t most);

/// Calls `warn` with a line for each solid that is thinner than can be resolved, the first few.
void warn_of_thin_solids(const Scene& scene, const ThicknessReport& report,
                         const std::function<void(const std::string&)>& warn);

/// What --strict does. Throws Error(unsupported) for a scene with solids that are thinner than can be resolved.
void refuse_thin_solids(const Scene& scene, const ThicknessReport& report);

}  // namespace raylift::batch
