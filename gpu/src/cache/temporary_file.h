// SPDX-License-Identifier: Apache-2.0
// A file that is written under a temporary name in its folder, which is the user's alone, and gets its own name last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/file_beside.h"
#include "cache_folder.h"

namespace raylift::detail {

/// A file that goes away unless it gets its name.
class TemporaryFile {
 public:
  /// Makes the folder where it is missing. Throws Error(io), also where others can write to the folder.
  explicit TemporaryFile(const std::filesystem::path& final);
  /// A full disk is better known before than after.
  void reserve(std::uint64_t bytes);
  void write_at(std::uint64_t offset, const void* data, std::size_t bytes) const;
  /// Onto the disk, and under its name.
  void keep();

 private:
  [[noreturn]] void fail(const std::string& what, int code) const;
  std::filesystem::path final_;
  CacheFolder folder_;
  base::FileBeside file_;
};

}  // namespace raylift::detail
