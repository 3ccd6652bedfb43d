// SPDX-License-Identifier: Apache-2.0
// Counting and checking the numbers in an XML text, without keeping them: the fast part of the preflight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace raylift::inline v0_1::collada {

/// Numbers in the text of an element, and the first thing in it that is none.
struct NumberScan {
  std::uint64_t count = 0;
  std::optional<std::string> bad;  ///< the offending token
};

/// Counts real numbers: [+-] digits [. digits] [e [+-] digits], NaN and INF. Parallel for long texts.
[[nodiscard]] NumberScan scan_reals(std::string_view text);

/// Counts indices (non-negative decimal integers below 2^32), and finds the largest at each position modulo `stride`.
struct IndexScan : NumberScan {
  std::vector<std::uint32_t> largest;  ///< `stride` values; 0 where there is none
};
[[nodiscard]] IndexScan scan_indices(std::string_view text, std::size_t stride);

/// The indices themselves. Only for texts that scan_indices has passed.
[[nodiscard]] std::vector<std::uint32_t> read_indices(std::string_view text);

/// All real numbers of a short text, in double; nothing where one is malformed.
[[nodiscard]] std::optional<std::vector<double>> read_reals(std::string_view text);

}  // namespace raylift::inline v0_1::collada
