// SPDX-License-Identifier: Apache-2.0
#include "process_table.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/parse_number.h"

namespace raylift::batch {
namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

struct Process {
  pid_t parent = 0;
  std::uint64_t resident_bytes = 0;
};

std::optional<Process> read_process(pid_t id) {
  const base::Descriptor file(::open(("/proc/" + std::to_string(id) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return std::nullopt;
  char text[1024];
  const ssize_t bytes = ::read(file.get(), text, sizeof text - 1);
  text[bytes > 0 ? bytes : 0] = '\0';
  // "17 (name) S 1 ...": the name may hold anything. Behind it, fields 3 (state), 4 (parent) and 24 (resident pages).
  const char* rest = std::strrchr(text, ')');
  Process process;
  unsigned long long pages = 0;
  if (rest == nullptr ||
      std::sscanf(rest + 1, " %*c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
                  &process.parent, &pages) != 2)
    return std::nullopt;
  process.resident_bytes = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return process;
}

}  // namespace

std::uint64_t resident_bytes(pid_t process) {
  const std::optional<Process> found = read_process(process);
  return found ? found->resident_bytes : 0;
}

// A list of a process's children is not in every kernel, so all of /proc is read: 10 us for each process there is.
ProcessTable ProcessTable::read() {
  ProcessTable table;
  const std::unique_ptr<DIR, CloseFolder> processes(::opendir("/proc"));
  if (!processes) return table;
  while (const dirent* entry = ::readdir(processes.get())) {
    const pid_t id = base::parse_number<pid_t>(entry->d_name).value_or(0);  // 0: no process
    const std::optional<Process> found = id > 0 ? read_process(id) : std::nullopt;
    if (!found) continue;
    table.children_.emplace(found->parent, id);
    table.resident_bytes_.emplace(id, found->resident_bytes);
  }
  return table;
}

std::uint64_t ProcessTable::resident_bytes(pid_t root) const {
  std::uint64_t bytes = 0;
  std::vector<pid_t> waiting{root};
  while (!waiting.empty()) {
    const pid_t process = waiting.back();
    waiting.pop_back();
    if (const auto found = resident_bytes_.find(process); found != resident_bytes_.end()) bytes += found->second;
    const auto [first, last] = children_.equal_range(process);
    for (auto child = first; child != last; ++child) waiting.push_back(child->second);
  }
  return bytes;
}

}  // namespace raylift::batch
