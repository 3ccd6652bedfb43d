// SPDX-License-Identifier: Apache-2.0
// A file that is written in large blocks, and names as Geant4 marks them.
#pragma once

#include <raylift/geometry/error.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/output_file.h"

namespace raylift::detector {

/// A file, or standard output, that is written in large blocks.
class BlockOutput {
 public:
  explicit BlockOutput(const std::filesystem::path& path) {
    if (path != "-") file_.emplace(path);
  }

  void put(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= kBlock) flush();
  }
  /// By default six significant digits, as C++ streams have it.
  void digits(int count) { digits_ = count; }
  void put(double value) {
    if (value == 0) value = 0;  // no "-0"
    char digits[32];
    const auto end =
        std::to_chars(std::begin(digits), std::end(digits), value, std::chars_format::general, digits_).ptr;
    put(std::string_view(digits, static_cast<std::size_t>(end - digits)));
  }
  void put(std::uint64_t value) {
    char digits[20];
    const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
    put(std::string_view(digits, static_cast<std::size_t>(end - digits)));
  }
  template <class... Pieces>
  void write(const Pieces&... pieces) {
    (put(pieces), ...);
  }

  void finish() {
    flush();
    if (file_)
      file_->finish();
    else
      cli::finish_output();
  }

 private:
  static constexpr std::size_t kBlock = std::size_t{4} << 20;

  void flush() {
    if (cli::interrupted_by() != 0) throw Error(ErrorKind::cancelled, "interrupted");
    if (file_)
      file_->write(buffer_);
    else
      cli::write_output(buffer_);
    buffer_.clear();
  }

  std::optional<cli::OutputFile> file_;
  std::string buffer_;
  int digits_ = 6;
};

/// Geant4 marks names by the object's address; here by a number that is the same in every run.
inline std::string mark(std::string_view name) {
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  char text[16];
  std::snprintf(text, sizeof text, "0x%07x", hash & 0xFFFFFFFU);
  return std::string(name) + text;
}

}  // namespace raylift::detector
