// SPDX-License-Identifier: Apache-2.0
// A file that the user names for a result: where that is a file, or will be one, it is there whole or not at all; a
// device, a pipe or a socket is written to, and a link stays.
#pragma once

#include <raylift/geometry/import/load.h>
#include <raylift/geometry/scene/scene.h>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/file_beside.h"

namespace raylift::cli {

class OutputFile {
 public:
  /// `what` begins errors' messages. Throws Error(usage) where it is a protected input, Error(io).
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

/// Protects these files, by whatever name or link, for the rest of the program: an OutputFile never replaces them.
void protect_inputs(std::span<const std::filesystem::path> inputs);
/// Protects the files that scenes are read from, as far as they are known before: they and their optics_files().
void protect_scenes(std::span<const std::string> scenes, const LoadOptions& options);
/// Protects what a loaded scene was read from: its own file and those that it refers to.
void protect_files_of(const Scene& scene);
/// Throws Error(usage) where an output is a protected input, which would be lost. For an early error: OutputFile asks
/// again.
void refuse_input(const std::filesystem::path& output);

/// All of a file at once. Throws Error(io).
void write_file(const std::filesystem::path& path, std::string_view bytes, std::string what = "the file");

}  // namespace raylift::cli
