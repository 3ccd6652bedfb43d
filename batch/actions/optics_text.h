// SPDX-License-Identifier: Apache-2.0
// What a scene is made of, optically, as text and as JSON.
#pragma once

#include <raylift/geometry/optics/properties.h>

#include <cstddef>
#include <string>
#include <vector>

#include "cli/output.h"

namespace raylift::batch {

/// Tables of the properties of materials and of surfaces, of who uses them, of the assignments and of the channels.
[[nodiscard]] std::string optics_text(const Scene& scene);
/// The same; null for a scene without optics.
[[nodiscard]] cli::Json optics_summary(const Scene& scene);

/// A table of what is not honoured; empty where there is nothing.
[[nodiscard]] std::string unhonoured_text(const Scene& scene);
/// A list of the first `most` of these.
[[nodiscard]] cli::Json unhonoured_json(const std::vector<UnhonouredProperty>& all, std::size_t most);

}  // namespace raylift::batch
