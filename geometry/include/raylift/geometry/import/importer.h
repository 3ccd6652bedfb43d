// SPDX-License-Identifier: Apache-2.0
// Which library reads files: what it makes of one may change with its version.
#pragma once

#include <string>

namespace raylift::inline v0_1 {

/// "assimp 5.2.4", as the library says of itself at run time.
[[nodiscard]] std::string importer_version();

}  // namespace raylift::inline v0_1
