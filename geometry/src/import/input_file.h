// SPDX-License-Identifier: Apache-2.0
// A file that is read: opened once, checked once, and passed on open.
#pragma once

#include <raylift/geometry/import/load.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/descriptor.h"

namespace raylift {

/// The file's name ending in lower case without the dot; of compressed files both: "dae.gz".
[[nodiscard]] std::string extension_of(const std::filesystem::path& path);

/// Whether files ending like this are COLLADA, and all in that one file. Importers of other formats look for more files
/// beside it, such as OBJ's materials and glTF's buffers.
[[nodiscard]] bool is_collada(const std::string& extension);

/// The memory that an import may take.
[[nodiscard]] std::uint64_t import_memory(const LoadLimits& limits);

/// Throws Error(limit) where documents of so many bytes together are more than an import's memory can hold.
void check_memory(const std::filesystem::path& path, std::uint64_t bytes, const LoadLimits& limits);

class InputFile {
 public:
  /// Opens the file. Throws Error: io or system where that fails, or where it is no regular file; malformed where it is
  /// empty; limit where it is larger than the limits allow.
  InputFile(std::filesystem::path path, const LoadLimits& limits);
  /// A file that was opened and checked already. Owns the descriptor.
  InputFile(std::filesystem::path path, int descriptor);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] const std::string& extension() const { return extension_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }

  /// Reads up to `count` bytes from `offset` on; fewer only at the end of the file. Throws Error: io, system.
  std::size_t read(std::uint64_t offset, void* target, std::size_t count) const;
  /// The whole file, which is text. Throws Error as above, and malformed where zeros follow one another.
  [[nodiscard]] std::string text() const;
  /// Another descriptor of the file at its beginning, for the caller to close. They share the position.
  [[nodiscard]] int duplicate() const;

 private:
  std::filesystem::path path_;
  std::string extension_;
  base::Descriptor descriptor_;
  std::uint64_t size_ = 0;
};

/// A piece of a text, and the number of bytes before it. Throws Error(malformed) where a row of zeros shows that it is
/// no text.
void check_text(const std::filesystem::path& path, std::string_view piece, std::size_t before);

/// Throws Error of kind_of_errno for a file.
[[noreturn]] void fail_file(const std::filesystem::path& path, const std::string& what, int code);
/// Throws Error(limit).
[[noreturn]] void fail_too_large(const std::filesystem::path& path, const std::string& what, std::uint64_t limit,
                                 const char* option);

/// What the names of a scene's nodes take together, which a long name in a tree that is instanced again and again
/// multiplies.
class NodeNames {
 public:
  /// stored: the bytes of the document or file.
  NodeNames(std::string file, std::uint64_t stored, const LoadLimits& limits)
      : file_(std::move(file)), stored_(stored), limits_(limits) {}
  /// Throws Error(limit) where they take much more than what is stored.
  void add(const std::string& name);

 private:
  std::string file_;
  std::uint64_t stored_;
  const LoadLimits& limits_;
  std::uint64_t bytes_ = 0;
};

/// Whether so many bytes are too much for what is stored of them.
[[nodiscard]] bool expands(std::uint64_t bytes, std::uint64_t stored, const LoadLimits& limits);
/// check_memory() of something that `what` names.
void check_memory(const std::filesystem::path& path, const std::string& what, std::uint64_t bytes,
                  const LoadLimits& limits);

}  // namespace raylift
