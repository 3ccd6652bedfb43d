// SPDX-License-Identifier: Apache-2.0
// The table of the kinds of errors, for programs that list them.
#pragma once

#include <raylift/geometry/error.h>

#include <span>
#include <string_view>

namespace raylift {

/// What is fixed for a kind.
struct ErrorKindRow {
  ErrorKind kind;
  std::string_view name;     ///< as to_string() has it
  int exit_code;             ///< as exit_code() has it
  std::string_view meaning;  ///< "a wrong option or argument"
};
/// All kinds, each once, in the order of ErrorKind.
[[nodiscard]] std::span<const ErrorKindRow> error_kinds() noexcept;

}  // namespace raylift
