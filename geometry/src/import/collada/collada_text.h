// SPDX-License-Identifier: Apache-2.0
// The numbers in an XML text, each read and checked once. Parallel for long texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace raylift::collada {

/// All real numbers of a text, each rounded once, to the nearest float: [+-] digits [. digits] [e [+-] digits], NaN and
/// INF. What is too large for a float is infinite.
struct Floats {
  std::vector<float> values;
  std::vector<float> rests;        ///< of each value, where they are asked for
  std::optional<std::string> bad;  ///< the first token that is none
};
/// rests: what each float lacks to the number in the text, which is read in double then.
[[nodiscard]] Floats read_floats(std::string_view text, bool rests = false);

/// The number that the whole of a word is, as read_floats() reads it; nothing where it is none.
[[nodiscard]] std::optional<float> read_float(std::string_view word);

/// What read_indices has found.
struct IndexScan {
  std::uint64_t count = 0;         ///< of all indices
  std::uint32_t largest = 0;       ///< of those that were taken
  std::optional<std::string> bad;  ///< the first token that is none
};
/// Reads indices (non-negative decimal integers below 2^32) that come `stride` to a point, and appends to `taken` the
/// one at `position` of each whole point.
[[nodiscard]] IndexScan read_indices(std::string_view text, std::size_t stride, std::size_t position,
                                     std::vector<std::uint32_t>& taken);

/// All real numbers of a short text, in double; nothing where one is malformed.
[[nodiscard]] std::optional<std::vector<double>> read_reals(std::string_view text);

/// Whether two texts are the same but for the case of ASCII letters; `lower` is in lower case.
[[nodiscard]] bool equals_ignoring_case(std::string_view text, std::string_view lower);

/// Whether there is nothing but white space.
[[nodiscard]] bool is_blank(std::string_view text);

}  // namespace raylift::collada
