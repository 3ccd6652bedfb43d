// SPDX-License-Identifier: Apache-2.0
// The texts that a GDML scene is read from: its own file, and those that it refers to, as entities or as modules.
#pragma once

#include <raylift/geometry/import/load.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace raylift::gdml {

/// The text of a file by its path relative to the scene's folder; nothing where there is none.
using OpenFile = std::function<std::optional<std::string>(const std::string& path)>;

/// Opens files and counts what they take. A path that a file states is relative to that file's folder.
class Documents {
 public:
  /// `main` is the scene's file, of `bytes` bytes.
  Documents(std::string main, std::uint64_t bytes, const LoadLimits& limits, OpenFile open)
      : main_(std::move(main)), stored_(bytes), limits_(limits), open_(std::move(open)) {}

  struct Text {
    std::string path;  ///< relative to the scene's folder
    std::string text;
  };
  /// The file that `from` (a path as in Text) calls `name`. Throws Error: malformed where it is not in the scene's
  /// folder or below it, or not there; limit.
  [[nodiscard]] Text open(const std::string& from, const std::string& name, const std::string& element);

  /// Counts bytes that came out of entities. Throws Error(limit) where they are many more than those that are stored.
  void expand(std::uint64_t bytes);

  /// The file of that relative path, for messages.
  [[nodiscard]] std::string file(const std::string& path) const;
  /// The scene's own, relative to its folder.
  [[nodiscard]] std::string main() const;
  /// What all files together hold that were opened.
  [[nodiscard]] std::uint64_t bytes() const { return stored_; }

 private:
  std::string main_;
  std::uint64_t stored_;
  std::uint64_t expanded_ = 0;
  std::uint32_t count_ = 1;
  const LoadLimits& limits_;
  OpenFile open_;
};

/// A document without its DOCTYPE, and with the entities replaced that this declares: by their values, or by files in
/// the scene's folder. `path` is the document's, relative to that. Other texts are returned as they are. Throws Error:
/// malformed, unsupported (parameter entities), limit.
[[nodiscard]] std::string expand_entities(std::string text, const std::string& path, Documents& documents);

}  // namespace raylift::gdml
