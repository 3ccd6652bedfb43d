// SPDX-License-Identifier: Apache-2.0
// Text for terminals: printable names, and numbers as tables show them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace raylift::cli {

/// The text in one line, safe for a terminal: control characters, bidirectional overrides and bytes that are not UTF-8
/// become escapes such as \n, \x1b and \u202e.
[[nodiscard]] std::string printable(std::string_view text);

/// The columns of printable text: its code points.
[[nodiscard]] std::size_t columns(std::string_view text) noexcept;

/// ASCII letters as small ones.
[[nodiscard]] std::string lower(std::string_view text);

/// "1,234,567".
[[nodiscard]] std::string grouped(std::uint64_t count);

/// Up to six significant digits, without trailing zeros: "25.4", "1e-07".
[[nodiscard]] std::string short_number(double value);

/// "3 meshes", "1 mesh".
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view one, std::string_view many);

/// The items of "a,b,c", empty ones too; one of them for a text without a comma.
[[nodiscard]] std::vector<std::string> split_at_commas(std::string_view text);

}  // namespace raylift::cli
