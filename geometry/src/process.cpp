// SPDX-License-Identifier: Apache-2.0
#include "process.h"

#include <fcntl.h>
#include <raylift/geometry/error.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace raylift::detail {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

base::Descriptor opened(int value, const char* what) {
  if (value < 0) throw Error(kind_of_errno(errno), std::string(what) + ": " + std::strerror(errno));
  return base::Descriptor(value);
}

int spawn(const std::string& program, std::vector<std::string> arguments, std::vector<std::string> environment,
          std::span<const int> descriptors) {
  const auto count = static_cast<int>(descriptors.size());
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  // Were a source among the targets, a later dup2 would overwrite it. So all move up first.
  std::vector<base::Descriptor> above;
  for (int i = 0; i != count; ++i) {
    above.push_back(opened(::fcntl(descriptors[static_cast<std::size_t>(i)], F_DUPFD_CLOEXEC, count), "fcntl"));
    posix_spawn_file_actions_adddup2(&files, above.back().get(), i);
  }
  posix_spawn_file_actions_addclosefrom_np(&files, count);
  sigset_t all;
  sigset_t none;
  sigfillset(&all);
  sigemptyset(&none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  pid_t process = -1;
  const int code = posix_spawn(&process, program.c_str(), &files, &attributes, pointers(arguments).data(),
                               pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (code != 0) throw Error(kind_of_errno(code), "can't start " + program + ": " + std::strerror(code));
  return process;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> result;
  for (char** one = environ; *one != nullptr; ++one) result.emplace_back(*one);
  return result;
}

std::uint64_t usable_memory() {
  std::uint64_t bytes =
      static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::ifstream groups("/proc/self/cgroup");
  // "0::/a/b" in version 2 of control groups, "4:memory:/a/b" in version 1. What is above limits what is below.
  for (std::string line; std::getline(groups, line);) {
    const bool second = line.starts_with("0::/");
    if (!second && line.find(":memory:/") == std::string::npos) continue;
    std::filesystem::path group = second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    const std::size_t levels = static_cast<std::size_t>(std::count(line.begin(), line.end(), '/'));
    group += line.substr(line.find('/'));
    for (std::size_t level = 0; level <= levels; ++level, group = group.parent_path()) {
      std::uint64_t limit = 0;  // "max" is no number
      if (std::ifstream(group / (second ? "memory.max" : "memory.limit_in_bytes")) >> limit && limit != 0)
        bytes = std::min(bytes, limit);
    }
  }
  return bytes;
}

}  // namespace raylift::detail
