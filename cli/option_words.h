// SPDX-License-Identifier: Apache-2.0
// The library advises in its own terms; the programs in theirs.
#pragma once

#include <string>
#include <vector>

namespace raylift::cli {

/// The text with the names of the library's options ("LoadLimits::triangles") replaced by those of the programs
/// ("--max-triangles").
[[nodiscard]] std::string in_option_words(std::string text);
[[nodiscard]] std::vector<std::string> in_option_words(std::vector<std::string> texts);

}  // namespace raylift::cli
