// SPDX-License-Identifier: Apache-2.0
// What was compiled, kept on disk: a file for each source with its options, architecture and headers, and NVRTC's
// version. Several processes may use one folder: a file is written under a temporary name first. What is read is
// checked: its owner, its mode, its key, its hash.
#pragma once

#include <optional>

#include "cache/hash.h"
#include "compile.h"

namespace raylift::detail {

/// The place in the cache of one compilation. A fault of the cache is a warning, and the kernel is compiled.
class CompileCache {
 public:
  /// `words` are all of NVRTC's options, the architecture among them.
  CompileCache(const Nvrtc& nvrtc, std::string_view source, const std::vector<std::string>& words,
               const ModuleOptions& options);

  [[nodiscard]] std::optional<Compiled> read() const;
  void write(const Compiled& compiled) const;
  /// Empty where this is not cached.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  void warn(const std::string& line) const {
    if (warn_) warn_(line);
  }
  std::filesystem::path path_;
  Hash256 key_;
  std::function<void(const std::string&)> warn_;
};

/// All that may be included by a source from these folders, and from beside what includes it: names and texts, one
/// after the other, whatever #if says. Nothing where an #include names no file.
[[nodiscard]] std::optional<std::string> included_texts(std::string_view source,
                                                        const std::vector<std::filesystem::path>& folders);

}  // namespace raylift::detail
