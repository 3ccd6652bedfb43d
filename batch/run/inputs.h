// SPDX-License-Identifier: Apache-2.0
// What a batch is to work on: files, folders, glob patterns and lists of these, as a list of files.
#pragma once

#include <raylift/geometry/error.h>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace raylift::batch {

struct Input {
  std::string path;
  std::uint64_t bytes = 0;
  std::optional<Error> error;  ///< it names nothing; the path is then what was given
};

/// Every file once, in the order given; those of a folder or a pattern by name.
///
/// A folder stands for all files in it and below it whose endings raylift reads; a pattern with *, ? or [] for all that
/// it matches; @FILE for the lines of a file (@- for those of standard input), of which empty ones and those that start
/// with # do not count. What exists under a name is that, whatever characters are in it.
[[nodiscard]] std::vector<Input> expand_inputs(const std::vector<std::string>& given);

}  // namespace raylift::batch
