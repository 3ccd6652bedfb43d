// SPDX-License-Identifier: Apache-2.0
// The ownership of the cache: its folder and files belong to the user or to root, and no other user can write to them.
// A user who could would decide what is uploaded.
#pragma once

#include <filesystem>

#include "base/descriptor.h"

namespace raylift::detail {

/// A folder of cache files. What is done in it goes by its descriptor: a path may lead elsewhere a moment later.
class CacheFolder {
 public:
  /// Throws Error(io) where there is no such folder.
  explicit CacheFolder(const std::filesystem::path& folder);
  /// The one that a file is in.
  [[nodiscard]] static CacheFolder of(const std::filesystem::path& file);
  /// Likewise, with all of its path that is missing made for the user alone. Throws Error(io).
  [[nodiscard]] static CacheFolder make_for(const std::filesystem::path& file);

  [[nodiscard]] int number() const { return descriptor_.get(); }
  /// Opens a file in it for reading: not through a link, and without waiting for the other end of a pipe. Throws
  /// Error(io); unsupported for what is no file.
  [[nodiscard]] base::Descriptor open_file(const std::filesystem::path& file) const;
  /// Throws Error(io) where others can write to it.
  void expect_private() const;
  /// The same for a file in it.
  static void expect_private(int number, const std::filesystem::path& file);

 private:
  std::filesystem::path path_;
  base::Descriptor descriptor_;
};

}  // namespace raylift::detail
