// SPDX-License-Identifier: Apache-2.0
// Programs as a shell runs them.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace raylift::viewer {

struct Ended {
  int code = -1;
  std::string out;
};

/// Waits for a command line's end; its exit code, or 128 and the signal's number.
inline Ended run_by_shell(const std::string& command) {
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  Ended ended;
  std::array<char, 4096> piece{};
  for (std::size_t count; (count = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;)
    ended.out.append(piece.data(), count);
  const int status = ::pclose(pipe);
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended;
}

}  // namespace raylift::viewer
