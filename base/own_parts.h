// SPDX-License-Identifier: Apache-2.0
// Where a program looks for what belongs to raylift, and is neither linked nor on the command line.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace raylift::base {

/// The places of a program or module, in order: the one that the environment's `variable` names; without it beside the
/// running program, in libexec beside its folder, and where raylift was installed.
inline std::vector<std::filesystem::path> places_of(const std::string& name, const char* variable,
                                                    const std::filesystem::path& installed) {
  if (const char* set = std::getenv(variable); set != nullptr && *set != '\0') return {set};
  std::error_code error;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  return {own / name, own / "../libexec/raylift" / name, installed / name};
}

}  // namespace raylift::base
