// SPDX-License-Identifier: Apache-2.0
// A file that is written beside another one and renamed onto it: readers see the old file or the whole new one.
#pragma once

#include <filesystem>

#include "descriptor.h"

namespace raylift::base {

/// Its name while it is written is hidden, ends in ".tmp" and can't be predicted; it follows no link that waits there.
/// A file that was not renamed is removed. All functions return 0, or the errno of what failed.
class FileBeside {
 public:
  FileBeside() = default;
  ~FileBeside();
  FileBeside(const FileBeside&) = delete;
  FileBeside& operator=(const FileBeside&) = delete;

  /// Makes the file, for reading and writing, with permissions `mode` less the umask. `target` is relative to the
  /// folder of that descriptor, which must stay open; AT_FDCWD: to the process's.
  [[nodiscard]] int open(int folder, const std::filesystem::path& target, unsigned mode);
  /// The same, without a name until link() or rename(), where the file system has such files: a program that is killed
  /// leaves nothing behind.
  [[nodiscard]] int open_unnamed(int folder, const std::filesystem::path& target, unsigned mode);
  /// Gives a file without a name one, as long as its descriptor is open.
  [[nodiscard]] int link();
  /// Renames the file onto the target. Its descriptor stays as it is.
  [[nodiscard]] int rename();

  [[nodiscard]] Descriptor& file() { return file_; }
  [[nodiscard]] const Descriptor& file() const { return file_; }

 private:
  template <class Make>
  [[nodiscard]] int make_name(const Make& make);

  int folder_ = -1;
  std::filesystem::path target_;
  std::filesystem::path name_;  // empty: it has none
  Descriptor file_;
};

}  // namespace raylift::base
