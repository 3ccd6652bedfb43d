// SPDX-License-Identifier: Apache-2.0
// What somebody who mistyped a word probably meant.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace raylift::cli {

/// The least number of insertions, deletions, substitutions and swaps of neighbours that turn one text into the other,
/// no part being edited twice (the "optimal string alignment" form of F. J. Damerau's distance, CACM 7(3), 1964).
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate that is nearest to `word`, or of which alone it is the beginning; empty where none is near.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// ": did you mean 'device'?", or nothing: for the end of an error message.
[[nodiscard]] std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace raylift::cli
