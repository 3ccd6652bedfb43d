// SPDX-License-Identifier: Apache-2.0
// The library that reads files, and its version, on which the result may depend.
#pragma once

#include <string>

namespace raylift {

/// "assimp 5.2.4", as the library says of itself at run time.
[[nodiscard]] std::string importer_version();

}  // namespace raylift
