// SPDX-License-Identifier: Apache-2.0
// Standard output, of which a program must know whether what it wrote has arrived, and JSON documents on it.
#pragma once

#include <raylift/geometry/error.h>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>

namespace raylift::cli {

/// Keeps the order in which members are added.
using Json = nlohmann::ordered_json;

/// Standard output can't be written: a full disk, a closed descriptor. An Error(io) with which the whole program ends,
/// unlike one about an input file. Its message is empty where the reader has seen enough and gone, as `head` does.
class OutputError : public Error {
 public:
  explicit OutputError(int code);
};

/// Writes to standard output at once. Throws OutputError.
void write_output(std::string_view text);

/// Makes sure that what was written has reached its file. Throws OutputError.
void finish_output();

/// Opens /dev/null in place of those of the standard descriptors that are closed, so that no file opened later takes
/// their numbers and gets what is meant for them. Writing to such a one fails.
void guard_standard_descriptors() noexcept;

/// One JSON document on standard output: a single value, or an array whose elements are written as they come.
class JsonOutput {
 public:
  explicit JsonOutput(bool array) : array_(array) {}
  /// Text that is not UTF-8 is written with replacement characters.
  void add(const Json& value);
  /// Ends the document; without it, it is not valid.
  void finish();

 private:
  bool array_;
  std::size_t count_ = 0;
};

}  // namespace raylift::cli
