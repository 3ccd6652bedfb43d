// SPDX-License-Identifier: Apache-2.0
// The answers of verbs as texts for people.
#pragma once

#include <raylift/geometry/error.h>

#include <string>

#include "cli/output.h"

namespace raylift::viewer {

using cli::Json;

/// The Error that an answer's "error" has.
[[nodiscard]] Error error_of(const Json& failure);
[[nodiscard]] std::string as_text(const Json& value);
/// One line for each key.
[[nodiscard]] std::string lines_of(const Json& result);

}  // namespace raylift::viewer
