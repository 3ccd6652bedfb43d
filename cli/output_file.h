// SPDX-License-Identifier: Apache-2.0
// A file that the user names for a result: where that is a file, or will be one, it is there whole or not at all; a
// device, a pipe or a socket is written to, and a link stays.
#pragma once

#include <raylift/geometry/import/load.h>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_beside.h"

namespace raylift::cli {

class OutputFile {
 public:
  /// `what` begins errors' messages. Throws Error(io).
  explicit OutputFile(const std::filesystem::path& path, std::string what = "the file");
  /// Without finish(), a file stays as it was; nothing is left beside it, on most file systems not even by a program
  /// that is killed.
  ~OutputFile() = default;

  /// Throws Error(io).
  void write(std::string_view bytes);
  /// Puts the file into its place, with the permissions of the one that was there. Throws Error(io).
  void finish();

 private:
  [[noreturn]] void fail(int code) const;

  std::filesystem::path path_;  // as the user has it
  std::string what_;
  std::filesystem::path target_;  // what a rename may replace; empty: it is written in place
  base::FileBeside beside_;
  base::Descriptor in_place_;
};

/// Throws Error(usage) where an output that exists is one of these inputs, by whatever name or link: it would be lost.
void refuse_to_overwrite(const std::filesystem::path& output, std::span<const std::filesystem::path> inputs);
/// The files that scenes are read from, as far as their names show: they and their optics_file().
[[nodiscard]] std::vector<std::filesystem::path> scene_inputs(std::span<const std::string> scenes,
                                                              const LoadOptions& options);

/// All of a file at once. Throws Error(io).
void write_file(const std::filesystem::path& path, std::string_view bytes, std::string what = "the file");

}  // namespace raylift::cli
