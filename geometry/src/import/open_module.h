// SPDX-License-Identifier: Apache-2.0
// Parts of raylift that are linked with large libraries, and loaded where a file needs them.
#pragma once

#include <string>

namespace raylift {

/// The one function of a module; null where it can't be used, and then `why` says so.
struct ModuleFunction {
  void* function = nullptr;
  std::string why;
};

/// Opens a module: where the environment's `variable` says, beside the program, or where it was installed. `purpose`
/// says what it does. A process that gives up the right to open files calls it before.
[[nodiscard]] ModuleFunction open_module(const std::string& file, const char* variable, const char* function,
                                         const std::string& purpose);

}  // namespace raylift
