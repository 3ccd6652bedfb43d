// SPDX-License-Identifier: Apache-2.0
// The processes that a test's own ones start.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace raylift::test {

/// Child processes of `parent`, those that ended but were not waited for included.
inline std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> result;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "stat");
    std::string text;
    std::getline(file, text);
    if (text.rfind(')') == std::string::npos) continue;
    std::istringstream rest(text.substr(text.rfind(')') + 1));
    char state = 0;
    pid_t above = 0;
    if (rest >> state >> above && above == parent) result.push_back(static_cast<pid_t>(std::stol(name)));
  }
  return result;
}

}  // namespace raylift::test
