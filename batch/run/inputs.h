// SPDX-License-Identifier: Apache-2.0
// What a batch is to work on: files, folders, glob patterns and lists of these, as a list of files.
#pragma once

#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/progress.h>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace raylift::batch {

/// The folder that a file is in, whatever way its name takes there: resolved, and on which file system it is.
struct Folder {
  std::string path;
  std::uint64_t file_system = 0;
};

/// One name for each file, whether it is given by a relative name, an absolute one, or a pattern. Links of folders are
/// resolved, and links of files are files of their own.
class FileIdentity {
 public:
  /// Relative names are relative to `base`; empty: to the working folder.
  explicit FileIdentity(std::string base = {}) : base_(std::move(base)) {}
  [[nodiscard]] std::string operator()(const std::string& path);
  [[nodiscard]] const Folder& folder(const std::string& path);

 private:
  std::string base_;
  std::unordered_map<std::string, Folder> folders_;
};

struct Input {
  std::string path;
  std::string identity;
  std::uint64_t file_system = 0;  ///< of its folder
  std::uint64_t bytes = 0;
  std::optional<Error> error;  ///< it names nothing; the path is then what was given
};

/// Every file once, in the order given; those of a folder or a pattern by name.
///
/// A folder stands for all files in it and below it whose endings raylift reads; a pattern with *, ? or [] for all that
/// it matches; @FILE for the lines of a file (@- for those of standard input), of which empty ones and those that start
/// with # do not count. What exists under a name is that, whatever characters are in it.
[[nodiscard]] std::vector<Input> expand_inputs(const std::vector<std::string>& given);

/// Whether an input's folder is gone, or is on another file system than it was.
[[nodiscard]] bool folder_vanished(const Input& input);

/// What a file holds, as hexadecimal digits; empty where it is not read: no regular file, or larger than `most`. Throws
/// Error: io, system, cancelled.
[[nodiscard]] std::string source_hash(const std::string& path, std::uint64_t most, const Progress& progress = {});

/// The same of a scene, and behind a '+' what the files hold that are laid over its optics.
[[nodiscard]] std::string scene_hash(const std::string& path, const LoadOptions& load, std::uint64_t most,
                                     const Progress& progress = {});

}  // namespace raylift::batch
