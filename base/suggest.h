// SPDX-License-Identifier: Apache-2.0
// Suggestions for mistyped words, in messages of the library and of the programs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace raylift::base {

/// The optimal string alignment distance: insertions, deletions, substitutions and transpositions of neighbours
/// (F. J. Damerau, CACM 7(3), 1964, with no part edited twice).
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `word`, or the only one that begins with it; empty where none is near.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// ": did you mean 'device'?", or nothing: for the end of an error message.
[[nodiscard]] std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace raylift::base
