// SPDX-License-Identifier: Apache-2.0
// Writing to standard output with errors reported, and JSON documents on it.
#pragma once

#include <raylift/geometry/error.h>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>

namespace raylift::cli {

/// Keeps the order of members.
using Json = nlohmann::ordered_json;

/// An Error(io) of standard output: a full disk, a closed descriptor. It ends the program, unlike an error of an input
/// file. Its message is empty for a closed pipe, as `head` leaves it.
class OutputError : public Error {
 public:
  explicit OutputError(int code);
};

/// Writes to standard output at once. Throws OutputError.
void write_output(std::string_view text);

/// Reports write errors that only closing shows, as on network file systems. Throws OutputError.
void finish_output();

/// Opens /dev/null for each closed standard descriptor, so that no file opened later takes its number. It is open in
/// the wrong direction: its use fails.
void guard_standard_descriptors() noexcept;

/// A JSON document on standard output: one value, or an array written element by element.
class JsonOutput {
 public:
  explicit JsonOutput(bool array) : array_(array) {}
  /// Replaces bytes that are not UTF-8.
  void add(const Json& value);
  /// Completes the document. Without this call it is not valid JSON.
  void finish();

 private:
  bool array_;
  std::size_t count_ = 0;
};

}  // namespace raylift::cli
