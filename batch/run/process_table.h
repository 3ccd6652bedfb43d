// SPDX-License-Identifier: Apache-2.0
// The machine's processes at one moment: how much memory one takes with all that it has started.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <unordered_map>

namespace raylift::batch {

/// The resident memory of one process; 0 where it is gone.
[[nodiscard]] std::uint64_t resident_bytes(pid_t process);

class ProcessTable {
 public:
  /// What /proc says now. A process that ends meanwhile is left out.
  [[nodiscard]] static ProcessTable read();

  /// The resident memory of a process and its descendants. What several of them share counts for each: a few MB of
  /// libraries.
  [[nodiscard]] std::uint64_t resident_bytes(pid_t root) const;

 private:
  std::unordered_multimap<pid_t, pid_t> children_;
  std::unordered_map<pid_t, std::uint64_t> resident_bytes_;
};

}  // namespace raylift::batch
